import { api, ask } from "@/api/client";
import { keys, refresh } from "@/api/queries";
import { t } from "@/i18n/t";
import { toastError, toastUndo } from "@/ui/toast";
import { nameOf } from "./paths";

export async function createFile(pid: string, path: string): Promise<void> {
  await ask(
    api.PUT("/api/projects/{pid}/files/{path}", { params: { path: { pid, path } }, body: { text: "", base: null } }),
  );
  refresh(keys.files(pid));
}

export async function createFolder(pid: string, path: string): Promise<void> {
  await ask(api.POST("/api/projects/{pid}/folders", { params: { path: { pid } }, body: { path } }));
  refresh(keys.files(pid));
}

export async function rename(pid: string, path: string, to: string): Promise<void> {
  await ask(api.POST("/api/projects/{pid}/rename", { params: { path: { pid } }, body: { path, to } }));
  refresh(keys.files(pid));
}

/** Rename or move, with a way back. */
export async function moveEntry(pid: string, path: string, to: string): Promise<void> {
  if (path === to) return;
  try {
    await rename(pid, path, to);
    toastUndo(t("tree.moved", { name: nameOf(path), to }), () => rename(pid, to, path));
  } catch (error) {
    toastError(error);
    refresh(keys.files(pid));
  }
}

export async function deleteEntry(pid: string, path: string): Promise<boolean> {
  try {
    const { trash_id } = await ask(
      api.DELETE("/api/projects/{pid}/files/{path}", { params: { path: { pid, path } } }),
    );
    refresh(keys.files(pid));
    toastUndo(t("tree.deleted", { name: nameOf(path) }), async () => {
      await ask(
        api.POST("/api/projects/{pid}/trash/{trash_id}/restore", { params: { path: { pid, trash_id } } }),
      );
      refresh(keys.files(pid));
    });
    return true;
  } catch (error) {
    toastError(error);
    return false;
  }
}
