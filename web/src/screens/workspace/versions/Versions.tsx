import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { versionsQuery } from "@/api/queries";
import type { Version } from "@/api/types";
import { useT } from "@/i18n/t";
import { useNarrow } from "@/lib/media";
import { Dialog } from "@/ui/dialog";
import { Empty, Failed, Skeleton } from "@/ui/states";
import { useWorkspace } from "../context";
import { nameOf } from "../tree/paths";
import { parentOf } from "./base";
import { Compare } from "./Compare";
import { saveOpened } from "./restore";
import { openVersions } from "./store";
import { useFolder } from "./use-folder";
import { VersionList } from "./VersionList";

/** What a file was, who made it so, and the way back. */
export function Versions() {
  const t = useT();
  const { file } = useWorkspace();
  const title = file === null ? t("versions.title") : t("versions.of", { name: nameOf(file) });
  return (
    <Dialog full open onOpenChange={openVersions} title={title}>
      {file === null ? (
        <Empty className="flex-1" title={t("versions.no_file")} hint={t("versions.no_file.hint")} />
      ) : (
        <Past path={file} />
      )}
    </Dialog>
  );
}

function Past({ path }: { path: string }) {
  const t = useT();
  const { projectId } = useWorkspace();
  const folder = useFolder(projectId);
  const { data, error, refetch } = useQuery(versionsQuery(projectId, path));
  const [isSaved, setSaved] = useState(true);
  useEffect(() => {
    void saveOpened(projectId, path).then((isStored) => {
      setSaved(isStored);
      return refetch();
    });
  }, [projectId, path, refetch]);
  if (folder) return <Empty className="flex-1" title={t("versions.folder")} hint={t("versions.folder.hint", { path: folder })} />;
  if (!data) return error ? <Failed className="flex-1 justify-center" error={error} onRetry={() => void refetch()} /> : <Loading />;
  if (data.length === 0) return <Empty className="flex-1" title={t("versions.none")} hint={t("versions.none.hint")} />;
  return (
    <>
      {!isSaved && (
        <p role="alert" className="mx-5 mt-3 rounded-lg bg-warn-soft px-3.5 py-2 text-sm text-warn max-md:mx-3">
          {t("versions.unsaved.note")}
        </p>
      )}
      <Browse path={path} versions={data} />
    </>
  );
}

export interface Pair {
  /** null: a blank page, for a text that was made from nothing. */
  from: number | null;
  to: number;
}

function Browse({ path, versions }: { path: string; versions: readonly Version[] }) {
  const isNarrow = useNarrow();
  const [chosen, setChosen] = useState<Pair | null>(null);
  const newest = versions[0]!;
  const changesOf = (version: Version): Pair => ({ from: parentOf(versions, version)?.n ?? null, to: version.n });
  // Until a choice is made, the latest change is in view, also when one more comes.
  const pair = chosen ?? changesOf(newest);
  const [isListed, isCompared] = isNarrow ? [chosen === null, chosen !== null] : [true, true];
  return (
    <div className="mt-3 grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] border-t border-line md:grid-cols-[minmax(14rem,20rem)_minmax(0,1fr)]">
      {isListed && (
        <VersionList path={path} versions={versions} shown={pair.to} onShow={(version) => setChosen(changesOf(version))} />
      )}
      {isCompared && (
        <Compare path={path} versions={versions} pair={pair} onPair={setChosen} onBack={isNarrow ? () => setChosen(null) : null} />
      )}
    </div>
  );
}

function Loading() {
  const t = useT();
  return (
    <div role="status" className="flex max-w-80 flex-col gap-3 p-5">
      <span className="sr-only">{t("common.loading")}</span>
      {[0, 1, 2, 3].map((each) => (
        <Skeleton key={each} className="h-14" />
      ))}
    </div>
  );
}
