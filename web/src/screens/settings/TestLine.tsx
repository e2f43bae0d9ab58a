import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, ask } from "@/api/client";
import type { SettingsIn, TestResult } from "@/api/types";
import { errorWords } from "@/api/words";
import { isKey, useT } from "@/i18n/t";
import { Button } from "@/ui/button";

interface Props {
  change: SettingsIn;
  of?: "primary" | "backup";
  isRemote: boolean;
  isReachable: boolean;
  onPick: (model: string) => void;
  children: ReactNode;
}

/** Tries the form as it stands, before it is saved. Without a model's name it asks for the names. */
export function TestLine({ change, of = "primary", isRemote, isReachable, onPick, children }: Props) {
  const t = useT();
  const test = useMutation({
    mutationFn: () => ask(api.POST("/api/settings/test", { body: change, params: { query: { of } } })),
  });
  return (
    <div>
      <div className="flex gap-2">
        {children}
        <Button busy={test.isPending} disabled={!isReachable} onClick={() => test.mutate()}>
          {t(of === "backup" ? "backup.test" : "settings.test")}
        </Button>
      </div>
      <div role="status" className="mt-3 text-sm">
        {test.error && <p className="text-bad">{errorWords(test.error, t)}</p>}
        {test.data && <Outcome result={test.data} isRemote={isRemote} onPick={onPick} />}
      </div>
    </div>
  );
}

function Outcome({ result, isRemote, onPick }: { result: TestResult; isRemote: boolean; onPick: Props["onPick"] }) {
  const t = useT();
  if (result.code === "model_unavailable" && isRemote) {
    return (
      <>
        <p>{t(result.models.length > 0 ? "test.choose" : "test.no_list")}</p>
        <Names names={result.models} onPick={onPick} />
      </>
    );
  }
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
      <Names names={result.models} onPick={onPick} />
    </>
  );
}

function Names({ names, onPick }: { names: string[]; onPick: Props["onPick"] }) {
  if (names.length === 0) return null;
  return (
    <div className="mt-2 flex max-h-40 flex-wrap gap-1.5 overflow-y-auto">
      {names.map((name) => (
        <Button key={name} size="s" onClick={() => onPick(name)}>
          {name}
        </Button>
      ))}
    </div>
  );
}
