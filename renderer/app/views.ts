/** The views of the console and which one is shown. The address carries it, so that back and reload work. */
import type { ComponentType } from "react";
import { create } from "zustand";
import type { MessageKey } from "../i18n/index.ts";

export interface ViewEntry {
  readonly id: string;
  readonly title: MessageKey;
  readonly icon: ComponentType;
  readonly component: ComponentType;
  /** `end` stands at the foot of the rail; `none` is reached from other views only. */
  readonly place: "start" | "end" | "none";
  /** A number beside the icon, such as of what waits for the operator; nothing is shown of 0. A hook. */
  readonly badge?: { readonly useCount: () => number; readonly title: MessageKey };
  /** The entry of the rail that is lit while this is shown, where it is not its own. */
  readonly under?: string;
}

export interface Route {
  readonly view: string;
  /** The rest of the address, such as the host of a host view. */
  readonly argument: string | null;
}

export function parseRoute(hash: string): Route {
  const [view = "", ...rest] = hash.replace(/^#\/?/, "").split("/");
  const argument = rest.join("/");
  return { view: view === "" ? "board" : view, argument: argument === "" ? null : decodeURIComponent(argument) };
}

export function formatRoute(route: Route): string {
  return `#/${route.view}${route.argument === null ? "" : `/${encodeURIComponent(route.argument)}`}`;
}

export const useRoute = create<Route>(() => ({ view: "board", argument: null }));

/** Starts following the address. */
export function followAddress(): void {
  const read = () => {
    try {
      useRoute.setState(parseRoute(window.location.hash));
    } catch {
      // An address typed by hand with a broken escape leads to the board, not to an empty page.
      useRoute.setState({ view: "board", argument: null });
    }
  };
  read();
  window.addEventListener("hashchange", read);
}

export function go(view: string, argument: string | null = null): void {
  const hash = formatRoute({ view, argument });
  if (window.location.hash === hash) return;
  window.location.hash = hash;
}
