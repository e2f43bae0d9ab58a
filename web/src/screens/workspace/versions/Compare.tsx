import { useQuery } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { useMemo, useState } from "react";
import { versionQuery } from "@/api/queries";
import type { Version } from "@/api/types";
import { useT } from "@/i18n/t";
import { useWide } from "@/lib/media";
import { recall, remember } from "@/lib/storage";
import { Button, IconButton } from "@/ui/button";
import { Segmented } from "@/ui/segmented";
import { Empty, Failed, Skeleton } from "@/ui/states";
import { toastError } from "@/ui/toast";
import { useWorkspace } from "../context";
import { Difference } from "./Difference";
import { restore } from "./restore";
import { openVersions, startReview } from "./store";
import type { Pair } from "./Versions";

interface Props {
  path: string;
  versions: readonly Version[];
  pair: Pair;
  onPair: (pair: Pair) => void;
  onBack: (() => void) | null;
}

type Layout = "unified" | "split";
const BLANK = "0";

export function Compare({ path, versions, pair, onPair, onBack }: Props) {
  const t = useT();
  const isWide = useWide();
  const [layout, setLayout] = useState<Layout>(() => (recall("compare") === "unified" ? "unified" : "split"));
  const [from, to] = [pair.from, pair.to].map((n) => versions.find((each) => each.n === n) ?? null);
  const choose = (chosen: Layout) => {
    remember("compare", chosen);
    setLayout(chosen);
  };
  return (
    <section aria-label={t("compare.label")} className="flex min-h-0 flex-col">
      <div className="flex flex-wrap items-center gap-2 px-4 py-2.5 max-md:px-3">
        {onBack && (
          <IconButton label={t("versions.back")} onClick={onBack} className="-ml-1">
            <ArrowLeft aria-hidden />
          </IconButton>
        )}
        <span className="text-sm text-ink-2 max-md:sr-only">{t("compare.from")}</span>
        <Choice
          label={t("compare.before")}
          value={pair.from}
          versions={versions}
          onChange={(n) => onPair({ ...pair, from: n })}
          withBlank
        />
        <span className="text-sm text-ink-2">{t("compare.to")}</span>
        <Choice label={t("compare.after")} value={pair.to} versions={versions} onChange={(n) => n !== null && onPair({ ...pair, to: n })} />
        <span className="flex-1" />
        {isWide && (
          <Segmented
            label={t("compare.layout")}
            value={layout}
            onChange={choose}
            options={(["split", "unified"] as const).map((value) => ({ value, label: t(`compare.${value}`) }))}
          />
        )}
      </div>
      {to && <Actions path={path} version={to} isNow={to.revision === versions[0]?.revision} />}
      {to && <Texts path={path} from={from ?? null} to={to} isSplit={isWide && layout === "split"} />}
    </section>
  );
}

interface ChoiceProps {
  label: string;
  value: number | null;
  versions: readonly Version[];
  onChange: (n: number | null) => void;
  withBlank?: boolean;
}

function Choice({ label, value, versions, onChange, withBlank = false }: ChoiceProps) {
  const t = useT();
  return (
    <select
      aria-label={label}
      value={value ?? BLANK}
      onChange={({ target }) => onChange(target.value === BLANK ? null : Number(target.value))}
      className="h-8 min-w-0 rounded-lg border border-line-2 bg-surface px-2 text-sm focus:border-accent max-md:h-11"
    >
      {versions.map(({ n, actor }) => (
        <option key={n} value={n}>
          {`${t("versions.number", { n })} · ${t(`versions.actor.${actor}`)}`}
        </option>
      ))}
      {withBlank && <option value={BLANK}>{t("compare.blank")}</option>}
    </select>
  );
}

function Actions({ path, version, isNow }: { path: string; version: Version; isNow: boolean }) {
  const t = useT();
  const { projectId, openFile } = useWorkspace();
  const [isBusy, setBusy] = useState(false);
  const bring = async () => {
    setBusy(true);
    try {
      if (await restore(projectId, path, version.n)) openVersions(false);
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  };
  const runId = version.run_id;
  return (
    <div className="flex flex-wrap gap-2 px-4 pb-2.5 max-md:px-3">
      <Button size="s" look="primary" disabled={isNow} busy={isBusy} onClick={() => void bring()}>
        {t("versions.restore")}
      </Button>
      {version.actor === "ai" && runId !== null && (
        <Button
          size="s"
          onClick={() => {
            startReview({ path, runId });
            openFile(path);
          }}
        >
          {t("versions.review")}
        </Button>
      )}
    </div>
  );
}

function Texts({ path, from, to, isSplit }: { path: string; from: Version | null; to: Version; isSplit: boolean }) {
  const t = useT();
  const { projectId } = useWorkspace();
  const before = useQuery({ ...versionQuery(projectId, path, from ?? to), enabled: from !== null });
  const after = useQuery(versionQuery(projectId, path, to));
  const [a, b] = [from === null ? "" : before.data, after.data];
  const error = (from !== null && before.error) || after.error;
  const view = useMemo(() => (a === undefined || b === undefined ? null : { before: a, now: b }), [a, b]);
  if (error) {
    const retry = () => void Promise.all([before, after].filter((each) => each.error).map((each) => each.refetch()));
    return <Failed className="flex-1 justify-center" error={error} onRetry={retry} />;
  }
  if (!view) return <Skeleton className="m-6 h-40" />;
  if (a === b) return <Empty className="flex-1" title={t("compare.same")} />;
  return <Difference texts={view} isSplit={isSplit} />;
}
