import { Suspense } from "react";
import { useT } from "@/i18n/t";
import { keyWords } from "@/lib/hotkeys";
import { late } from "@/lib/late";
import { Empty, Skeleton } from "@/ui/states";
import { useWorkspace } from "./context";

const FileView = late(() => import("./editor/FileView").then((module) => module.FileView));

export function EditorPane() {
  const t = useT();
  const { file } = useWorkspace();
  return (
    <section aria-label={t("workspace.tab.editor")} className="flex h-full flex-col bg-surface">
      {file === null ? (
        <Empty className="flex-1" title={t("editor.empty")} hint={t("editor.empty.hint", { keys: keyWords("mod+P") })} />
      ) : (
        <Suspense fallback={<Page />}>
          <FileView path={file} />
        </Suspense>
      )}
    </section>
  );
}

function Page() {
  return (
    <div className="mx-auto flex w-full max-w-[44em] flex-col gap-3 p-8 pt-16">
      <Skeleton className="h-7 w-1/3" />
      <Skeleton className="h-4" />
      <Skeleton className="h-4" />
      <Skeleton className="h-4 w-2/3" />
    </div>
  );
}
