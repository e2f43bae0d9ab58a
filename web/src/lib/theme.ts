import { create } from "zustand";
import { recall, remember } from "./storage";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const stored = recall("theme");

export const useTheme = create<{ theme: Theme }>(() => ({
  theme: stored === "light" || stored === "dark" ? stored : "system",
}));

const dark = window.matchMedia("(prefers-color-scheme: dark)");

function apply(): void {
  const { theme } = useTheme.getState();
  const shown = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
  document.documentElement.dataset.theme = shown;
}

export function setTheme(theme: Theme): void {
  remember("theme", theme === "system" ? null : theme);
  useTheme.setState({ theme });
  apply();
}

export function followSystemTheme(): void {
  apply();
  dark.addEventListener("change", apply);
}
