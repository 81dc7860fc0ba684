import { TesseraMark } from "../design/icons.tsx";
import { t } from "../i18n/index.ts";
import { go, useRoute, type ViewEntry } from "./views.ts";

export function Rail({ views }: { readonly views: readonly ViewEntry[] }) {
  const shown = useRoute((route) => route.view);
  const current = views.find(({ id }) => id === shown)?.under ?? shown;
  const item = (view: ViewEntry) => {
    const Icon = view.icon;
    return (
      <li key={view.id}>
        <button
          type="button"
          className="rail-item"
          aria-current={current === view.id ? "page" : undefined}
          aria-label={t(view.title)}
          title={t(view.title)}
          onClick={() => go(view.id)}
        >
          <Icon />
        </button>
      </li>
    );
  };
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
