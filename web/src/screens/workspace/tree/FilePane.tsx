import { useQuery } from "@tanstack/react-query";
import { FilePlus2, FolderPlus, Search, Upload } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useIsViewer } from "@/api/account";
import { filesQuery, projectsQuery } from "@/api/queries";
import { useT } from "@/i18n/t";
import { keyWords, useHotkeys } from "@/lib/hotkeys";
import { Button, IconButton } from "@/ui/button";
import { cx } from "@/ui/cx";
import { Empty, Failed, Skeleton } from "@/ui/states";
import { useWorkspace } from "../context";
import { FIND_BUTTON } from "../find/store";
import { useWantedOrders } from "./arrange";
import { CreateDialog } from "./CreateDialog";
import { FileTree } from "./FileTree";
import { ImportList } from "./ImportList";
import { importDocuments, type Picked } from "./imports";
import { MoveDialog } from "./MoveDialog";
import { withOrders } from "./order";
import { shelve } from "./paths";
import { useFileDrop } from "./use-file-drop";

export type TreeDialog = { kind: "file" | "folder"; folder: string } | { kind: "move"; path: string };

/** What the file picker offers; what a file really is, the server finds out. */
const DOCUMENTS = ".txt,.md,.markdown,.html,.htm,.xhtml,.docx,.epub,.zip";

export function FilePane() {
  const t = useT();
  const { projectId, openFile, openFind } = useWorkspace();
  const isViewer = useIsViewer(projectId);
  const { data, error, isPending, refetch } = useQuery(filesQuery(projectId));
  const isOrdered = !useQuery(projectsQuery).data?.find((project) => project.id === projectId)?.path;
  const orders = useWantedOrders(projectId);
  const shelf = useMemo(() => shelve(withOrders(data?.entries ?? [], orders)), [data, orders]);
  const [dialog, setDialog] = useState<TreeDialog | null>(null);
  /** Where a new file goes: the folder that has the focus in the tree. */
  const [folder, setFolder] = useState("");
  /** A row that gets the focus as soon as it is there. */
  const [awaited, setAwaited] = useState<string | null>(null);
  const [said, setSaid] = useState("");
  /** An import may end when another project is open. */
  const isHere = useRef(true);
  useEffect(() => {
    isHere.current = true;
    return () => void (isHere.current = false);
  }, []);
  const picker = useRef<HTMLInputElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const create = (kind: "file" | "folder") => setDialog({ kind, folder });
  useHotkeys({ "alt+N": () => create("file"), "alt+M": () => create("folder"), "alt+I": () => picker.current?.click() });
  const take = (into: string, picked: Picked[]) =>
    void importDocuments(projectId, into, picked, (path) => isHere.current && openFile(path));
  const drop = useFileDrop(take);
  return (
    <section aria-label={t("workspace.tab.files")} {...drop.props} className="relative flex h-full flex-col bg-paper">
      <header className="flex h-10 shrink-0 items-center pr-1.5 pl-4 max-md:h-12">
        <h2 className="flex-1 font-sans text-[13px] font-medium text-ink-3">{t("workspace.tab.files")}</h2>
        <IconButton id={FIND_BUTTON} label={t("found.title")} keys={keyWords("mod+shift+F")} onClick={() => openFind()}>
          <Search aria-hidden />
        </IconButton>
        {!isViewer && (
          <>
            <IconButton label={t("tree.new_file")} keys={keyWords("alt+N")} onClick={() => create("file")}>
              <FilePlus2 aria-hidden />
            </IconButton>
            <IconButton label={t("tree.new_folder")} keys={keyWords("alt+M")} onClick={() => create("folder")}>
              <FolderPlus aria-hidden />
            </IconButton>
            <IconButton ref={opener} label={t("import.open")} keys={keyWords("alt+I")} onClick={() => picker.current?.click()}>
              <Upload aria-hidden />
            </IconButton>
          </>
        )}
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          accept={DOCUMENTS}
          onChange={({ target }) => {
            take(folder, Array.from(target.files ?? [], (file) => ({ file, below: "" })));
            target.value = ""; // the same file may be chosen again
          }}
        />
      </header>
      <p role="status" data-testid="tree-said" className="sr-only">
        {said}
      </p>
      <ImportList onLast={() => opener.current?.focus()} />
      <div
        className={cx(
          "min-h-0 flex-1 overflow-y-auto px-1.5 pb-4",
          drop.target === "" && "rounded-lg bg-accent-soft outline-2 -outline-offset-2 outline-accent",
        )}
      >
        {isPending ? (
          <Loading />
        ) : error ? (
          <Failed error={error} onRetry={() => void refetch()} />
        ) : data.entries.length === 0 ? (
          <Empty title={t("tree.empty")} hint={t(isViewer ? "viewer.text" : "tree.empty.hint")}>
            {!isViewer && (
              <>
                <Button onClick={() => create("file")}>{t("tree.new_file")}</Button>
                <Button onClick={() => picker.current?.click()}>{t("import.open")}</Button>
              </>
            )}
          </Empty>
        ) : (
          <FileTree
            shelf={shelf}
            isOrdered={isOrdered}
            onDialog={setDialog}
            onFolder={setFolder}
            dropTarget={drop.target}
            awaited={awaited}
            onAwait={setAwaited}
            onSay={setSaid}
          />
        )}
        {data?.truncated && <p className="px-3 py-2 text-xs text-ink-3">{t("tree.truncated")}</p>}
      </div>
      {drop.target !== null && (
        <p className="pointer-events-none absolute inset-x-3 bottom-3 rounded-lg bg-ink px-3 py-2 text-center text-[13px] text-paper">
          {drop.target ? t("import.drop.folder", { folder: drop.target }) : t("import.drop")}
        </p>
      )}
      {dialog?.kind === "move" && <MoveDialog path={dialog.path} shelf={shelf} onAwait={setAwaited} onClose={() => setDialog(null)} />}
      {dialog && dialog.kind !== "move" && (
        <CreateDialog kind={dialog.kind} folder={dialog.folder} onClose={() => setDialog(null)} />
      )}
    </section>
  );
}

function Loading() {
  const t = useT();
  return (
    <div role="status" className="flex flex-col gap-2 p-3">
      <span className="sr-only">{t("common.loading")}</span>
      <Skeleton className="h-5 w-3/4" />
      <Skeleton className="h-5 w-1/2" />
      <Skeleton className="h-5 w-2/3" />
    </div>
  );
}
