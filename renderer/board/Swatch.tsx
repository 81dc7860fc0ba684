import type { TenantMark } from "../stores/colouring.ts";

/** A tenant's colour beside its name, with the second mark where the hue is shared. */
export function TenantSwatch({ mark }: { readonly mark: TenantMark }) {
  return <i className={`swatch swatch-tenant-${mark.hue}`} data-mark={mark.mark} aria-hidden="true" />;
}
