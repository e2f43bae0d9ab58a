import { api, ask } from "@/api/client";
import { keys, refresh } from "@/api/queries";
import { t } from "@/i18n/t";
import { toastDone, toastUndo, toastWarning } from "@/ui/toast";
import { openedDoc } from "../editor/docs";

/** Store what is being written in this file. False if that is not possible now: then it stays in the editor. */
export async function saveOpened(projectId: string, path: string): Promise<boolean> {
  const doc = openedDoc(projectId, path);
  if (!doc) return true;
  await doc.save();
  return !doc.isDirty;
}

/** Asked for directly: a list in the cache may be renewed, and so cut off, by the very change it is about. */
function listed(pid: string, path: string) {
  return ask(api.GET("/api/projects/{pid}/versions", { params: { path: { pid }, query: { path } }, cache: "no-store" }));
}

/**
 * Bring the text of a version back as a new version and offer the way back. It is refused while the
 * editor holds words that are not stored (then false). Raises ApiError.
 */
export async function restore(projectId: string, path: string, n: number): Promise<boolean> {
  if (!(await saveOpened(projectId, path))) {
    toastWarning(t("versions.unsaved"));
    return false;
  }
  const newest = (await listed(projectId, path))[0]?.n;
  await ask(
    api.POST("/api/projects/{pid}/versions/{n}/restore", { params: { path: { pid: projectId, n } }, body: { path } }),
  );
  await openedDoc(projectId, path)?.sync();
  refresh(keys.files(projectId), keys.versions(projectId));
  const made = (await listed(projectId, path))[0];
  if (!made || made.n === newest || made.parent === null) toastDone(t("versions.same"));
  else {
    const { parent } = made;
    toastUndo(t("versions.restored", { n, made: made.n }), () => restore(projectId, path, parent));
  }
  return true;
}
