import { TesseraMark } from "../design/icons.tsx";
import { t } from "../i18n/index.ts";
import { go, useRoute, type ViewEntry } from "./views.ts";

export function Rail({ views }: { readonly views: readonly ViewEntry[] }) {
  const shown = useRoute((route) => route.view);
  const current = views.find(({ id }) => id === shown)?.under ?? shown;
  const item = (view: ViewEntry) => <RailItem key={view.id} view={view} isCurrent={current === view.id} />;
  return (
    <nav className="rail" aria-label={t("app.views")}>
      <div className="rail-mark">
        <TesseraMark />
      </div>
      <ul>{views.filter((view) => view.place === "start").map(item)}</ul>
      <ul className="rail-end">{views.filter((view) => view.place === "end").map(item)}</ul>
    </nav>
  );
}

const noCount = () => 0;

function RailItem({ view, isCurrent }: { readonly view: ViewEntry; readonly isCurrent: boolean }) {
  const Icon = view.icon;
  // An entry has the same badge for ever, so the hook is the same at every drawing.
  const useCount = view.badge?.useCount ?? noCount;
  const count = useCount();
  const title = t(view.title);
  const badge = view.badge === undefined || count === 0 ? null : t(view.badge.title, { count });
  return (
    <li>
      <button
        type="button"
        className="rail-item"
        aria-current={isCurrent ? "page" : undefined}
        aria-label={title}
        title={badge === null ? title : `${title}: ${badge}`}
        onClick={() => go(view.id)}
      >
        <Icon />
        {badge === null ? null : (
          // Drawn by the style sheet: the button's name stays what it leads to, and its title has the number.
          <span className="rail-badge" data-count={count > 99 ? "99+" : count} aria-hidden="true" />
        )}
      </button>
    </li>
  );
}
