import { RadioGroup } from "radix-ui";
import { useState } from "react";
import { toast } from "sonner";
import type { ModelState, Settings } from "@/api/types";
import { useT } from "@/i18n/t";
import { Button } from "@/ui/button";
import { Backup } from "./Backup";
import type { Draft } from "./Connection";
import { backupChange, changeOf, draftOf, isBackupHalf, PROVIDERS } from "./draft";
import { Embedded } from "./Embedded";
import { OpenAiFields } from "./OpenAiFields";
import { Probe } from "./Probe";
import { useSaveSettings } from "./save";
import { TestLine } from "./TestLine";

export function ModelForm({ settings, model }: { settings: Settings; model: ModelState }) {
  const t = useT();
  const [draft, setDraft] = useState(() => draftOf(settings));
  const save = useSaveSettings();
  const change = changeOf(draft, settings);
  const isChanged = Object.keys(change).length > 0;
  const isReachable = draft.provider !== "openai" || draft.base_url.trim() !== "";
  const isHalf = isBackupHalf(draft) && Object.keys(backupChange(draft, settings)).length > 0;
  const isComplete = isReachable && (draft.provider !== "openai" || (draft.model.trim() !== "" && !isHalf));
  const update = (patch: Partial<Draft>) => setDraft({ ...draft, ...patch });
  const submit = () =>
    save.mutate(change, {
      onSuccess: (saved) => {
        setDraft({ ...draftOf(saved), provider: saved.provider });
        toast.success(t("settings.saved"));
      },
    });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged && isComplete) submit();
      }}
      className="flex flex-col gap-5"
    >
      <RadioGroup.Root
        aria-label={t("settings.provider")}
        value={draft.provider}
        disabled={settings.locked.includes("provider")}
        onValueChange={(value) => update({ provider: value as Draft["provider"] })}
        className="grid grid-cols-3 gap-2 max-md:grid-cols-1"
      >
        {PROVIDERS.map((provider) => (
          <RadioGroup.Item
            key={provider}
            value={provider}
            className="rounded-xl border border-line-2 bg-surface p-3.5 text-left transition-colors hover:border-ink-3 data-[state=checked]:border-accent data-[state=checked]:bg-accent-soft"
          >
            <span className="block text-sm font-semibold">{t(`provider.${provider}`)}</span>
            <span className="mt-0.5 block text-[13px] text-ink-2">{t(`provider.${provider}.text`)}</span>
          </RadioGroup.Item>
        ))}
      </RadioGroup.Root>
      {draft.provider === "embedded" && <Embedded model={model} isCurrent={settings.provider === "embedded"} />}
      {draft.provider === "openai" && <OpenAiFields draft={draft} settings={settings} onChange={update} />}
      {draft.provider === settings.provider && draft.provider !== "scripted" && model.state === "ready" && (
        <Probe settings={settings} isChanged={isChanged} />
      )}
      {draft.provider === "openai" && <Backup draft={draft} settings={settings} onChange={update} change={change} />}
      <TestLine change={change} isRemote={draft.provider === "openai"} isReachable={isReachable} onPick={(name) => update({ model: name })}>
        <Button type="submit" look="primary" busy={save.isPending} disabled={!isChanged || !isComplete}>
          {t("common.save")}
        </Button>
      </TestLine>
    </form>
  );
}
