/** Between the desktop's main process and the services' process. Ports travel beside a message, never in it. */
export interface ServicesStart {
  readonly version: string;
  readonly demo: boolean;
  /** As whom one logs in to the demo cluster; null for its operator. */
  readonly demoAs: string | null;
  readonly dataDirectory: string | null;
  readonly cluster: string | null;
  /** Where a package keeps what it carries to hosts; null in a checkout. */
  readonly resourcesDirectory: string | null;
  /** What safeStorage can do; null where it can do nothing. */
  readonly seal: { readonly backend: string; readonly available: boolean } | null;
}

export type ToServices =
  | { readonly kind: "start"; readonly start: ServicesStart }
  /** A page's port comes with it. */
  | { readonly kind: "page" }
  | { readonly kind: "seal-answer"; readonly id: number; readonly value: string | null }
  | { readonly kind: "stop" };

export type ToMain =
  | { readonly kind: "seal"; readonly id: number; readonly way: "seal" | "unseal"; readonly text: string }
  | { readonly kind: "stopped" };
