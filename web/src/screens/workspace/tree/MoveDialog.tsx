import { useId, useState } from "react";
import { useT } from "@/i18n/t";
import { useIme } from "@/lib/ime";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { useWorkspace } from "../context";
import { moveEntry } from "./actions";
import { folderOf, join, nameOf, type Shelf } from "./paths";

interface Props {
  path: string;
  shelf: Shelf;
  onAwait: (path: string) => void;
  onClose: () => void;
}

export function MoveDialog({ path, shelf, onAwait, onClose }: Props) {
  const t = useT();
  const ime = useIme();
  const id = useId();
  const { projectId } = useWorkspace();
  const [folder, setFolder] = useState(folderOf(path));
  const folders = [...shelf.entries.values()].filter(
    (entry) => entry.kind === "folder" && entry.path !== path && !entry.path.startsWith(`${path}/`),
  );
  const submit = () => {
    const to = join(folder, nameOf(path));
    onAwait(to);
    void moveEntry(projectId, path, to);
    onClose();
  };
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={t("tree.move.title", { name: nameOf(path) })}>
      <div className="flex flex-col gap-4 px-5 pt-3 pb-5">
        <div>
          <label htmlFor={id} className="mb-1 block text-sm font-medium">
            {t("tree.folder")}
          </label>
          <select
            id={id}
            autoFocus
            value={folder}
            onChange={(event) => setFolder(event.target.value)}
            onKeyDown={(event) => {
              if (!ime.isEnter(event)) return;
              event.preventDefault();
              submit();
            }}
            className="h-10 w-full rounded-lg border border-line-2 bg-surface px-3 text-[15px] max-md:h-11"
          >
            <option value="">{t("tree.root")}</option>
            {folders.map((entry) => (
              <option key={entry.path} value={entry.path}>
                {entry.path}
              </option>
            ))}
          </select>
        </div>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("common.cancel")}</Button>
          <Button look="primary" disabled={folder === folderOf(path)} onClick={submit}>
            {t("tree.move.do")}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
