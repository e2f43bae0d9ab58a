import { Download, LoaderCircle } from "lucide-react";
import { useState } from "react";
import { exportProject, FORMATS } from "@/api/documents";
import type { Format } from "@/api/types";
import { useT } from "@/i18n/t";
import { hand } from "@/lib/hand";
import { IconButton } from "@/ui/button";
import { Menu } from "@/ui/menu";
import { toastDone, toastError, toastWarning } from "@/ui/toast";
import { useWorkspace } from "./context";
import { saveAll } from "./editor/saving";

/** The project as one file to take away. */
export function ExportMenu() {
  const t = useT();
  const { projectId } = useWorkspace();
  const [isBusy, setBusy] = useState(false);
  const run = async (format: Format) => {
    if (isBusy) return;
    setBusy(true);
    try {
      const isComplete = await saveAll();
      const { name, bytes } = await exportProject(projectId, format);
      hand(name, bytes);
      if (isComplete) toastDone(t("export.done", { name }));
      else toastWarning(t("export.unsaved"));
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Menu items={FORMATS.map((format) => ({ label: t(`export.${format}`), onSelect: () => void run(format) }))}>
      <IconButton label={t(isBusy ? "export.busy" : "export.open")} aria-busy={isBusy || undefined}>
        {isBusy ? <LoaderCircle aria-hidden className="animate-spin" /> : <Download aria-hidden />}
      </IconButton>
    </Menu>
  );
}
