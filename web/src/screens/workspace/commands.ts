import type { Key } from "@/i18n/t";
import { openVersions } from "./versions/store";

/** What the palette offers beside files. */
export interface Command {
  label: Key;
  keys: string;
  act: () => void;
}

export const COMMANDS: readonly Command[] = [{ label: "versions.title", keys: "mod+shift+H", act: () => openVersions() }];
