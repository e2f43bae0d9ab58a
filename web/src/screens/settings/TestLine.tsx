import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, ask } from "@/api/client";
import type { SettingsIn, TestResult } from "@/api/types";
import { errorWords } from "@/api/words";
import { isKey, useT } from "@/i18n/t";
import { Button } from "@/ui/button";

interface Props {
  change: SettingsIn;
  isComplete: boolean;
  onPick: (model: string) => void;
  children: ReactNode;
}

/** Tries the form as it stands, before it is saved. */
export function TestLine({ change, isComplete, onPick, children }: Props) {
  const t = useT();
  const test = useMutation({
    mutationFn: () => ask(api.POST("/api/settings/test", { body: change })),
  });
  return (
    <div>
      <div className="flex gap-2">
        {children}
        <Button busy={test.isPending} disabled={!isComplete} onClick={() => test.mutate()}>
          {t("settings.test")}
        </Button>
      </div>
      <div role="status" className="mt-3 text-sm">
        {test.error && <p className="text-bad">{errorWords(test.error, t)}</p>}
        {test.data && <Outcome result={test.data} onPick={onPick} />}
      </div>
    </div>
  );
}

function Outcome({ result, onPick }: { result: TestResult; onPick: (model: string) => void }) {
  const t = useT();
  if (!result.ok) {
    const key = `test.${result.code}`;
    // What the provider said itself is worth reading; our own words are already there.
    const said = result.code === "model_unavailable" ? "" : result.message;
    return (
      <p className="text-bad">
        {isKey(key) ? t(key) : t("test.failed")}
        {said && <span className="mt-1 block text-[13px] text-ink-3">{said}</span>}
      </p>
    );
  }
  return (
    <>
      <p className="text-good">{t("test.ok", { ms: result.latency_ms })}</p>
      {result.models.length > 0 && (
        <div className="mt-2 flex flex-wrap gap-1.5">
          {result.models.slice(0, 30).map((name) => (
            <Button key={name} size="s" onClick={() => onPick(name)}>
              {name}
            </Button>
          ))}
        </div>
      )}
    </>
  );
}
