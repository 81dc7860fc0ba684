/** Light, dark or high contrast, as chosen or as the system has it. Canvas code listens, since it cannot use CSS. */
import { create } from "zustand";
import type { Settings } from "../../shared/api/contract.ts";

export type Theme = "light" | "dark" | "high-contrast";
export type ThemeChoice = Settings["theme"];

export const useTheme = create<{ readonly choice: ThemeChoice; readonly theme: Theme }>(() => ({
  choice: "system",
  theme: "light",
}));

function systemTheme(): Theme {
  if (window.matchMedia("(prefers-contrast: more)").matches) return "high-contrast";
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function applyTheme(choice: ThemeChoice): void {
  const theme = choice === "system" ? systemTheme() : choice;
  document.documentElement.dataset.theme = theme;
  useTheme.setState({ choice, theme });
}

export function followSystemTheme(): void {
  for (const query of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"]) {
    window.matchMedia(query).addEventListener("change", () => {
      if (useTheme.getState().choice === "system") applyTheme("system");
    });
  }
}
