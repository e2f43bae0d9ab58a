import type { Settings } from "@/api/types";
import { useT } from "@/i18n/t";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";

/** What a form holds of the model settings. A key: null leaves the stored one, "" removes it. */
export interface Draft {
  provider: Settings["provider"];
  base_url: string;
  model: string;
  api_key: string | null;
  dialect: Settings["dialect"];
  backup_base_url: string;
  backup_model: string;
  backup_api_key: string | null;
}

export interface FormProps {
  draft: Draft;
  settings: Settings;
  onChange: (patch: Partial<Draft>) => void;
}

/** Address, key and model of one provider: of the first, or of its backup. */
export function Connection({ draft, settings, onChange, prefix }: FormProps & { prefix: "" | "backup_" }) {
  const t = useT();
  const [url, model, key] = [`${prefix}base_url`, `${prefix}model`, `${prefix}api_key`] as const;
  const isLocked = (name: string) => settings.locked.includes(name);
  const note = (name: string, hint: string) => (isLocked(name) ? t("settings.locked") : hint);
  const isStored = settings[`${prefix}api_key_set`] && draft[key] !== "";
  return (
    <>
      <Field
        label={t("settings.base_url")}
        hint={note(url, t("settings.base_url.hint"))}
        type="url"
        inputMode="url"
        spellCheck={false}
        placeholder="https://api.example.com/v1"
        value={draft[url]}
        disabled={isLocked(url)}
        onChange={(event) => onChange({ [url]: event.target.value })}
      />
      {/* The key goes in and never comes out: a stored one is only said to be there. */}
      <div className="flex items-start gap-2">
        <Field
          className="flex-1"
          label={t("settings.api_key")}
          hint={note(key, t(isStored ? "settings.api_key.stored" : "settings.api_key.hint"))}
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder={isStored ? "••••••••••••" : ""}
          value={draft[key] ?? ""}
          disabled={isLocked(key)}
          onChange={(event) => onChange({ [key]: event.target.value || null })}
        />
        {isStored && !isLocked(key) && (
          <Button className="mt-[27px]" onClick={() => onChange({ [key]: "" })}>
            {t("settings.api_key.remove")}
          </Button>
        )}
      </div>
      <Field
        label={t("settings.model_name")}
        hint={note(model, t(prefix ? "backup.model.hint" : "settings.model_name.hint"))}
        spellCheck={false}
        value={draft[model]}
        disabled={isLocked(model)}
        onChange={(event) => onChange({ [model]: event.target.value })}
      />
    </>
  );
}
