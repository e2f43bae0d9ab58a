import { useT } from "@/i18n/t";
import { Select } from "@/ui/field";
import { Connection, type FormProps } from "./Connection";

const DIALECTS = ["auto", "native", "lenient", "schema", "tagged", "markdown", "plain_zh", "bracket", "classic"] as const;

export function OpenAiFields({ draft, settings, onChange }: FormProps) {
  const t = useT();
  const isLocked = settings.locked.includes("dialect");
  return (
    <div className="flex flex-col gap-4">
      <Connection draft={draft} settings={settings} onChange={onChange} prefix="" />
      <Select
        label={t("settings.dialect")}
        hint={t(isLocked ? "settings.locked" : "settings.dialect.hint")}
        value={draft.dialect}
        disabled={isLocked}
        onChange={(dialect) => onChange({ dialect })}
        options={DIALECTS.map((value) => ({ value, label: t(`settings.dialect.${value}`) }))}
      />
    </div>
  );
}
