import { errorWords } from "@/api/words";
import { ApiError } from "@/api/client";
import { useT } from "@/i18n/t";
import { AskText } from "@/ui/ask-text";
import { useWorkspace } from "../context";
import { createFile, createFolder } from "./actions";
import { join } from "./paths";

interface Props {
  kind: "file" | "folder";
  folder: string;
  onClose: () => void;
}

export function CreateDialog({ kind, folder, onClose }: Props) {
  const t = useT();
  const { projectId, openFile } = useWorkspace();
  const start = join(folder, "");
  const name = kind === "file" ? t("tree.untitled") : "";
  const create = async (path: string): Promise<string | null> => {
    try {
      if (kind === "folder") {
        await createFolder(projectId, path);
      } else {
        await createFile(projectId, path);
        openFile(path);
      }
      return null;
    } catch (error) {
      const taken = error instanceof ApiError && error.code === "revision_conflict";
      return taken ? t("problem.path_exists", { path }) : errorWords(error, t);
    }
  };
  return (
    <AskText
      title={kind === "file" ? t("tree.new_file") : t("tree.new_folder")}
      label={t("tree.path")}
      hint={t("tree.path.hint")}
      initial={start + name}
      select={[start.length, start.length + Math.max(name.lastIndexOf("."), 0)]}
      confirm={t("common.create")}
      onConfirm={create}
      onClose={onClose}
    />
  );
}
