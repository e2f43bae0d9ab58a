import type { ImportOut } from "@/api/types";

/** What a browser hands over when files and folders are dropped. */

export type Tree = { [name: string]: Tree | File };

export const text = (name: string) => new File(["夜色"], name);

export const A_FILE = { name: "a.txt", isDirectory: false };

/** A folder, whose reader gives `size` entries at a time. */
export function folder(name: string, inside: Tree, size = 2): object {
  return {
    name,
    isDirectory: true,
    createReader: () => {
      const left = Object.entries(inside).map(([child, what]) =>
        what instanceof File
          ? { name: child, isDirectory: false, file: (give: (file: File) => void) => give(what) }
          : folder(child, what, size),
      );
      return { readEntries: (give: (entries: object[]) => void) => give(left.splice(0, size)) };
    },
  };
}

export const dropped = (...entries: object[]) => ({
  types: ["Files"],
  items: entries.map((entry) => ({
    getAsFile: () => text((entry as { name: string }).name),
    webkitGetAsEntry: () => entry,
  })),
});

/** What the server says of an import. */
export const made = (...paths: string[]): ImportOut => ({
  files: paths.map((path) => ({ path, size_bytes: 6 })),
  warnings: [],
  problems: [],
});
