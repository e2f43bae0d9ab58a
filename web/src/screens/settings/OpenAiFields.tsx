import type { Settings } from "@/api/types";
import { useT } from "@/i18n/t";
import { Button } from "@/ui/button";
import { Field, Select } from "@/ui/field";

const DIALECTS = ["auto", "native", "lenient", "schema", "tagged", "markdown", "plain_zh", "bracket", "classic"] as const;

export interface Draft {
  provider: Settings["provider"];
  base_url: string;
  model: string;
  /** null leaves the stored key, "" removes it. */
  api_key: string | null;
  dialect: Settings["dialect"];
}

interface Props {
  draft: Draft;
  settings: Settings;
  onChange: (patch: Partial<Draft>) => void;
}

export function OpenAiFields({ draft, settings, onChange }: Props) {
  const t = useT();
  const isLocked = (name: string) => settings.locked.includes(name);
  const note = (name: string, hint: string) => (isLocked(name) ? t("settings.locked") : hint);
  return (
    <div className="flex flex-col gap-4">
      <Field
        label={t("settings.base_url")}
        hint={note("base_url", t("settings.base_url.hint"))}
        type="url"
        inputMode="url"
        spellCheck={false}
        placeholder="https://api.example.com/v1"
        value={draft.base_url}
        disabled={isLocked("base_url")}
        onChange={(event) => onChange({ base_url: event.target.value })}
      />
      <Key draft={draft} settings={settings} onChange={onChange} />
      <Field
        label={t("settings.model_name")}
        hint={note("model", t("settings.model_name.hint"))}
        spellCheck={false}
        value={draft.model}
        disabled={isLocked("model")}
        onChange={(event) => onChange({ model: event.target.value })}
      />
      <Select
        label={t("settings.dialect")}
        hint={note("dialect", t("settings.dialect.hint"))}
        value={draft.dialect}
        disabled={isLocked("dialect")}
        onChange={(dialect) => onChange({ dialect })}
        options={DIALECTS.map((value) => ({ value, label: t(`settings.dialect.${value}`) }))}
      />
    </div>
  );
}

/** The key goes in and never comes out: a stored one is only said to be there. */
function Key({ draft, settings, onChange }: Props) {
  const t = useT();
  const isLocked = settings.locked.includes("api_key");
  const isStored = settings.api_key_set && draft.api_key !== "";
  return (
    <div className="flex items-start gap-2">
      <Field
        className="flex-1"
        label={t("settings.api_key")}
        hint={isLocked ? t("settings.locked") : isStored ? t("settings.api_key.stored") : t("settings.api_key.hint")}
        type="password"
        autoComplete="off"
        spellCheck={false}
        placeholder={isStored ? "••••••••••••" : ""}
        value={draft.api_key ?? ""}
        disabled={isLocked}
        onChange={(event) => onChange({ api_key: event.target.value || null })}
      />
      {isStored && !isLocked && (
        <Button className="mt-[27px]" onClick={() => onChange({ api_key: "" })}>
          {t("settings.api_key.remove")}
        </Button>
      )}
    </div>
  );
}
