import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import { versionQuery, versionsQuery } from "@/api/queries";
import { useT } from "@/i18n/t";
import { useRegionKeys } from "@/lib/region-keys";
import { Button } from "@/ui/button";
import { Empty, Failed, Skeleton } from "@/ui/states";
import { toastDone } from "@/ui/toast";
import type { OpenDoc } from "../editor/doc";
import { baseOf } from "../versions/base";
import { endReview } from "../versions/store";
import { ReviewBar } from "./ReviewBar";
import { forgetReview, resumeReview } from "./session";

interface Props {
  doc: OpenDoc;
  runId: string;
}

/** Goes through what has changed in a file since a run began to write it. */
export function Review({ doc, runId }: Props) {
  const t = useT();
  const { projectId, path } = doc;
  const [isSaved, setSaved] = useState<boolean | null>(null);
  useEffect(() => void doc.save().then(() => setSaved(!doc.isDirty)), [doc]);
  const list = useQuery(versionsQuery(projectId, path));
  const base = list.data && baseOf(list.data, runId);
  const text = useQuery({ ...versionQuery(projectId, path, base ?? { n: 0, revision: "" }), enabled: !!base });
  const before = base === null ? "" : text.data;
  const error = list.error ?? text.error;

  if (isSaved === false) return <Nothing title={t("review.unsaved")} hint={t("review.unsaved.hint")} />;
  if (before !== undefined && isSaved) return <Passages doc={doc} before={before} />;
  if (error) {
    const retry = () => void (list.error ? list : text).refetch();
    return (
      <div className="flex h-full flex-col justify-center">
        <Failed className="!pb-3" error={error} onRetry={retry} />
        <Button look="ghost" className="self-center" onClick={endReview}>
          {t("common.cancel")}
        </Button>
      </div>
    );
  }
  if (list.data && base === undefined) return <Nothing title={t("review.not_found")} hint={t("review.not_found.hint")} />;
  return <Skeleton className="m-8 h-40" />;
}

function Nothing({ title, hint }: { title: string; hint: string }) {
  const t = useT();
  return (
    <Empty className="h-full" title={title} hint={hint}>
      <Button onClick={endReview}>{t("common.close")}</Button>
    </Empty>
  );
}

function Passages({ doc, before }: { doc: OpenDoc; before: string }) {
  const t = useT();
  const region = useRef<HTMLElement>(null);
  const parent = useRef<HTMLDivElement>(null);
  const [session] = useState(() => resumeReview(doc, before));
  const progress = useStore(session.store);
  useEffect(() => {
    if (!parent.current) return undefined;
    session.mount(parent.current).focus();
    return () => session.unmount();
  }, [session]);
  useEffect(() => doc.store.subscribe(() => session.rebase(doc.text)), [doc, session]);

  const leave = () => {
    forgetReview(doc);
    endReview();
  };

  const finish = () => {
    const { rejected } = session.store.getState();
    leave();
    if (session.text === doc.text) {
      toastDone(t("review.kept"));
      return;
    }
    void doc.rewrite(session.text).then(() => {
      if (!doc.isDirty) toastDone(t("review.rejected", { n: rejected }));
    });
  };
  useRegionKeys(region, {
    Y: () => session.decideHere("accept"),
    N: () => session.decideHere("reject"),
    "Shift+Y": () => session.decideAll("accept"),
    "Shift+N": () => session.decideAll("reject"),
    F7: () => session.go(1),
    "Shift+F7": () => session.go(-1),
    "mod+Z": () => session.undo(),
    Enter: finish,
    Escape: leave,
  });
  const isEmpty = progress.left === 0 && progress.accepted + progress.rejected === 0;
  return (
    <section ref={region} aria-label={t("review.title")} className="flex h-full flex-col">
      {isEmpty ? (
        <Nothing title={t("review.nothing")} hint={t("review.nothing.hint")} />
      ) : (
        <>
          <ReviewBar session={session} onFinish={finish} onCancel={leave} />
          {progress.isRebased && (
            <p role="status" className="border-b border-line bg-warn-soft px-4 py-1.5 text-[13px] text-warn">
              {t("review.rebased")}
            </p>
          )}
        </>
      )}
      <div ref={parent} className="comparison min-h-0 flex-1" hidden={isEmpty} data-layout="unified" />
    </section>
  );
}
