/** Says for as long as it holds that what is added now is gone when the console ends. */
import { useEffect, useState } from "react";
import type { AppErrorData } from "../../shared/errors.ts";
import { client } from "../client/index.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useSnapshot } from "../stores/snapshot.ts";

export function StoreTrouble() {
  const link = useSnapshot((state) => state.link);
  // A change of the list is what the store may have failed to keep.
  const clusters = useSnapshot((state) => state.clusters);
  const [trouble, setTrouble] = useState<AppErrorData | null>(null);
  useEffect(() => {
    if (link !== "open" || clusters === null) return;
    const controller = new AbortController();
    client()
      .request("app.info", {}, controller.signal)
      .then(
        (info) => setTrouble(info.storeTrouble ?? null),
        () => {}, // Without an answer what was said before stays.
      );
    return () => controller.abort();
  }, [link, clusters]);
  if (trouble === null) return null;
  return (
    <div className="store-trouble" role="alert">
      <ErrorText error={trouble} />
    </div>
  );
}
