import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { api, ApiError, ask } from "@/api/client";
import { keys, probeQuery, queryClient, refresh } from "@/api/queries";
import type { ProbeState, Settings } from "@/api/types";
import { errorWords } from "@/api/words";
import { useLang, useT } from "@/i18n/t";
import { formatWhen } from "@/lib/format";
import { useNow } from "@/lib/now";
import { Button } from "@/ui/button";
import { Progress } from "@/ui/progress";
import { toastError } from "@/ui/toast";

const take = (state: ProbeState) => queryClient.setQueryData(keys.probe, state);

/** What probes found about the model in force, and a search that finds it anew. */
export function Probe({ settings, isChanged }: { settings: Settings; isChanged: boolean }) {
  const t = useT();
  const { data } = useQuery(probeQuery);
  const isRunning = data?.progress != null;
  const wasRunning = useRef(false);
  useEffect(() => {
    if (wasRunning.current && !isRunning) refresh(keys.settings);
    wasRunning.current = isRunning;
  }, [isRunning]);
  const start = useMutation({
    mutationFn: () => ask(api.POST("/api/settings/probe")),
    onSuccess: take,
    onError: toastError,
  });
  const cancel = useMutation({
    mutationFn: () => ask(api.POST("/api/settings/probe/cancel")),
    onSuccess: take,
    onError: toastError,
  });
  if (isRunning) {
    return (
      <div className="flex items-center gap-3">
        <Progress label={t("probe.running")} fraction={data.progress} />
        <Button size="s" busy={cancel.isPending} onClick={() => cancel.mutate()}>
          {t("common.cancel")}
        </Button>
      </div>
    );
  }
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-2">
      <div role="status" className="text-[13px] text-ink-2">
        {data?.code ? <Failed state={data} /> : <Found settings={settings} />}
      </div>
      <Button size="s" busy={start.isPending} disabled={isChanged} onClick={() => start.mutate()}>
        {t(settings.found ? "probe.again" : "probe.start")}
      </Button>
    </div>
  );
}

function Found({ settings }: { settings: Settings }) {
  const t = useT();
  const lang = useLang();
  const now = useNow(60_000);
  const { found } = settings;
  if (!found) return <p>{t("probe.never")}</p>;
  const name = t(`settings.dialect.${found.dialect}`);
  const when = formatWhen(found.at, now, lang);
  return <p>{t("probe.found", { when, name, right: found.right, total: found.total })}</p>;
}

function Failed({ state }: { state: ProbeState }) {
  const t = useT();
  const error = new ApiError(state.code ?? "", 0, state.message, state.params);
  return <p className="text-bad">{errorWords(error, t)}</p>;
}
