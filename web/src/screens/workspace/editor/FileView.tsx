import { Eye, History, PenLine } from "lucide-react";
import { Suspense, useCallback, useEffect, useState } from "react";
import { useStore } from "zustand";
import { ApiError } from "@/api/client";
import { keys, refresh } from "@/api/queries";
import { useT } from "@/i18n/t";
import { useLiveBody } from "@/run/bodies";
import { keyWords } from "@/lib/hotkeys";
import { late } from "@/lib/late";
import { Button, IconButton } from "@/ui/button";
import { CopyButton } from "@/ui/copy-button";
import { Failed, Skeleton } from "@/ui/states";
import { useWorkspace } from "../context";
import { usePathOf } from "../tree/path-of";
import { nameOf } from "../tree/paths";
import { openVersions, useHistory } from "../versions/store";
import { CodeEditor } from "./CodeEditor";
import type { OpenDoc } from "./doc";
import { openDoc } from "./docs";
import { LiveText } from "./LiveText";
import { ReviewOffer } from "./ReviewOffer";
import { usePlace } from "./place";
import { StatusBar } from "./StatusBar";

const Conflict = late(() => import("../diff/Conflict").then((module) => module.Conflict));
const Review = late(() => import("../review/Review").then((module) => module.Review));
const Preview = late(() => import("./Preview").then((module) => module.Preview));

export function FileView({ path }: { path: string }) {
  const { projectId } = useWorkspace();
  const [doc, setDoc] = useState<OpenDoc | null>(null);
  const [failed, setFailed] = useState<{ path: string; error: unknown } | null>(null);
  const load = useCallback(
    () =>
      void openDoc(projectId, path).then(
        (opened) => (setDoc(opened), setFailed(null)),
        (error: unknown) => setFailed({ path, error }),
      ),
    [projectId, path],
  );
  const retry = () => {
    setFailed(null);
    load();
  };
  const body = useLiveBody(path, usePathOf());
  const isLive = body !== null;
  // While the agent writes it there may be no file yet; after that it is there, or is another one.
  useEffect(() => (isLive ? undefined : load()), [isLive, load]);
  if (body) return <LiveText path={path} body={body} />;
  if (failed?.path === path) return <Failed className="flex-1 justify-center" error={failed.error} onRetry={retry} />;
  return doc?.isAt(path) ? <Opened doc={doc} path={path} /> : <div className="flex-1" />;
}

function Opened({ doc, path }: { doc: OpenDoc; path: string }) {
  const [isPreview, setPreview] = useState(false);
  const { phase, theirs } = useStore(doc.store);
  const review = useHistory((state) => (state.review?.path === path ? state.review : null));
  const isReviewed = review !== null && phase !== "conflict" && phase !== "deleted";
  const isPlaceWanted = usePlace(({ wanted }) => wanted !== null && doc.isAt(wanted.path));
  if (isPlaceWanted && isPreview) setPreview(false); // places are of the text, not of what it looks like
  return (
    <>
      <FileBar path={path} doc={doc} isPreview={isPreview} onPreview={setPreview} />
      <Banner doc={doc} />
      {!isReviewed && phase !== "deleted" && <ReviewOffer path={path} />}
      <div className="min-h-0 flex-1">
        <Suspense fallback={<Skeleton className="m-8 h-40" />}>
          {phase === "conflict" && theirs ? (
            <Conflict doc={doc} theirs={theirs} />
          ) : isReviewed ? (
            <Review key={review.runId} doc={doc} runId={review.runId} />
          ) : isPreview ? (
            <Preview text={doc.text} />
          ) : (
            <CodeEditor doc={doc} />
          )}
        </Suspense>
      </div>
      {phase !== "conflict" && !isReviewed && <StatusBar doc={doc} />}
    </>
  );
}

interface BarProps {
  path: string;
  doc: OpenDoc;
  isPreview: boolean;
  onPreview: (isPreview: boolean) => void;
}

function FileBar({ path, doc, isPreview, onPreview }: BarProps) {
  const t = useT();
  return (
    <header className="flex h-10 shrink-0 items-center gap-1 border-b border-line pr-1.5 pl-4 max-md:h-12">
      <h2 className="min-w-0 flex-1 truncate font-sans text-sm font-medium" title={path}>
        <span className="text-ink-3">{path.slice(0, path.length - nameOf(path).length)}</span>
        {nameOf(path)}
      </h2>
      <CopyButton label={t("editor.copy")} text={() => doc.text} />
      <IconButton label={t("versions.title")} keys={keyWords("mod+shift+H")} onClick={() => openVersions()}>
        <History aria-hidden />
      </IconButton>
      <IconButton label={isPreview ? t("editor.edit") : t("editor.preview")} onClick={() => onPreview(!isPreview)}>
        {isPreview ? <PenLine aria-hidden /> : <Eye aria-hidden />}
      </IconButton>
    </header>
  );
}

/** What stands between the person's words and the disk, and the way out. */
function Banner({ doc }: { doc: OpenDoc }) {
  const t = useT();
  const { openFile } = useWorkspace();
  const { phase, problem } = useStore(doc.store);
  const code = phase === "failed" && problem instanceof ApiError ? problem.code : "";
  const isForbidden = code === "forbidden";
  // What one may do here has changed since it was asked for.
  useEffect(() => {
    if (isForbidden) refresh(keys.members(doc.projectId));
  }, [isForbidden, doc]);
  if (phase !== "deleted" && phase !== "failed") return null;
  const words = phase === "deleted" ? t("editor.deleted") : t(isForbidden ? "editor.forbidden" : "editor.save_failed");
  return (
    <div role="alert" className="flex flex-wrap items-center gap-2 border-b border-line bg-bad-soft px-4 py-1.5 text-[13px] text-bad">
      <span className="flex-1">
        {words} {code ? t("editor.kept") : ""}
      </span>
      {phase === "failed" && (
        <Button size="s" onClick={() => void doc.save()}>
          {t("common.retry")}
        </Button>
      )}
      {phase === "deleted" && (
        <>
          <Button size="s" onClick={() => void doc.revive()}>
            {t("editor.revive")}
          </Button>
          <Button size="s" onClick={() => openFile(null)}>
            {t("common.close")}
          </Button>
        </>
      )}
    </div>
  );
}
