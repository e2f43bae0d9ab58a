import { useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { useId, useMemo, useState } from "react";
import { filesQuery } from "@/api/queries";
import { useT } from "@/i18n/t";
import { keyWords } from "@/lib/hotkeys";
import { useIme } from "@/lib/ime";
import { Dialog } from "@/ui/dialog";
import { cx } from "@/ui/cx";
import { COMMANDS } from "./commands";
import { useWorkspace } from "./context";
import { rank } from "./rank";
import { folderOf, nameOf } from "./tree/paths";

const MOST = 50;

export function Palette({ onClose }: { onClose: () => void }) {
  const t = useT();
  const ime = useIme();
  const id = useId();
  const { projectId, openFile, openFind } = useWorkspace();
  const { data } = useQuery(filesQuery(projectId));
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const files = useMemo(() => {
    const paths = data?.entries.filter((entry) => entry.kind === "file").map((entry) => entry.path) ?? [];
    return rank(paths, query).slice(0, MOST).map(fileItem);
  }, [data, query]);
  const commands: Item[] = COMMANDS.map(({ label, keys, act }) => ({ name: t(label), about: keyWords(keys), act }));
  const named = rank(commands.map(({ name }) => name), query);
  const found = [...files, ...commands.filter(({ name }) => named.includes(name))];
  /** The last row looks into the files instead. */
  const count = found.length + (query.trim() ? 1 : 0);
  const choose = (index: number) => {
    const item = found[index];
    if (index >= count) return;
    onClose();
    if (item === undefined) openFind(query.trim());
    else if (item.path === undefined) item.act?.();
    else openFile(item.path);
  };
  const move = (by: number) => setAt((at + by + count) % Math.max(count, 1));
  const row = (index: number) => ({
    id: `${id}-${index}`,
    role: "option",
    tabIndex: -1,
    "aria-selected": index === at,
    ref: index === at ? intoView : undefined,
    onClick: () => choose(index),
    className: cx("flex cursor-pointer items-baseline gap-2 rounded-lg px-3.5 py-2 text-sm max-md:min-h-11", index === at && "bg-sunken"),
  });
  return (
    <Dialog bare wide open onOpenChange={(open) => !open && onClose()} title={t("palette.open")}>
      <input
        role="combobox"
        aria-label={t("palette.open")}
        aria-expanded
        aria-controls={id}
        aria-activedescendant={count > 0 ? `${id}-${at}` : undefined}
        placeholder={t("palette.placeholder")}
        value={query}
        autoFocus
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
        {...ime.props}
        onKeyDown={(event) => {
          if (ime.owns(event)) return;
          if (event.key === "ArrowDown") move(1);
          else if (event.key === "ArrowUp") move(-1);
          else if (event.key === "Enter") choose(at);
          else return;
          event.preventDefault();
        }}
        className="h-12 shrink-0 rounded-t-2xl bg-transparent px-5 text-base outline-none"
      />
      <div id={id} role="listbox" aria-label={t("palette.results")} className="min-h-12 overflow-y-auto border-t border-line p-1.5">
        {found.map((item, index) => (
          <div key={item.path ?? item.name} {...row(index)}>
            <span className="truncate">{item.name}</span>
            <span className="truncate text-xs text-ink-3">{item.about}</span>
          </div>
        ))}
        {query.trim() && (
          <div {...row(found.length)}>
            <Search aria-hidden className="size-4 self-center text-ink-3" />
            <span className="flex-1 truncate">{t("palette.find", { phrase: query.trim() })}</span>
            <kbd className="font-sans text-xs text-ink-3">{keyWords("mod+shift+F")}</kbd>
          </div>
        )}
      </div>
      {found.length === 0 && (
        <p role="status" className="px-5 pb-4 text-sm text-ink-3">
          {t("palette.nothing")}
        </p>
      )}
    </Dialog>
  );
}

/** A file by its path, or something to do. */
interface Item {
  name: string;
  about: string;
  path?: string;
  act?: () => void;
}

function fileItem(path: string): Item {
  return { name: nameOf(path), about: folderOf(path), path };
}

function intoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: "nearest" });
}
