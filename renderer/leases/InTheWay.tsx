/** Why a lease was refused: every limit that is in the way, by how much, who can change it, and where to ask for more. */
import type { AppErrorData, LimitInTheWay } from "../../shared/errors.ts";
import type { Me } from "../../shared/protocol/control.ts";
import { partsOfResource, type Resource, toWords } from "../../shared/quota/index.ts";
import { go } from "../app/views.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useText } from "../i18n/index.ts";
import inspector from "../inspector/inspector.module.css";
import { levelWords, resourceWords } from "../quota/words.ts";
import { askArgument, askable } from "../requests/form.ts";
import { amountWords } from "../requests/words.ts";
import styles from "./leases.module.css";

function known(resource: string): Resource | null {
  return partsOfResource(resource) === null ? null : (resource as Resource);
}

/** What the address of "Ask for more" needs; null where the caller may not ask for that level. */
function askFor(me: Me, { subject, resource, missing }: LimitInTheWay): string | null {
  const asked = known(resource);
  if (subject === null || asked === null || askable(me, [{ id: subject }]).length === 0) return null;
  return askArgument({ subject, resource: asked, amount: toWords(missing) });
}

function Limit({ limit: blocker, me }: { readonly limit: LimitInTheWay; readonly me: Me }) {
  const t = useText();
  const { subject, level, name, resource, limit, used, missing, changedBy } = blocker;
  const exact = known(resource);
  const words = (amount: typeof missing) => (exact === null ? toWords(amount) : amountWords(t, exact, amount));
  const place = level === "cluster" ? levelWords(t, level) : t("quota.place", { level: levelWords(t, level), name });
  const ask = askFor(me, blocker);
  return (
    <li>
      <span>
        {subject === null
          ? t("lease.noRoom", { place, missing: words(missing), resource: resourceWords(t, resource) })
          : t("lease.blocker", { place, used: toWords(used), limit: words(limit), missing: words(missing) })}
      </span>{" "}
      <span className="muted">{t(`lease.changedBy-${changedBy}`)}</span>{" "}
      {ask === null ? null : (
        <button type="button" className={inspector.link} onClick={() => go("requests", ask)}>
          {t("quota.askForMore")}
        </button>
      )}
    </li>
  );
}

export function InTheWay({ error, me }: { readonly error: AppErrorData; readonly me: Me }) {
  const t = useText();
  const limits = error.evidence?.blockedBy ?? [];
  return (
    <div role="alert">
      {limits.length === 0 ? (
        <ErrorText error={error} />
      ) : (
        <div className={styles.inTheWay}>
          <strong>{t("lease.beyond")}</strong>
          <ul>
            {limits.map((limit) => (
              <Limit key={`${limit.level} ${limit.subject} ${limit.resource}`} limit={limit} me={me} />
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}
