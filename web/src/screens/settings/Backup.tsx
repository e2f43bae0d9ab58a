import { Plus } from "lucide-react";
import { useState } from "react";
import type { SettingsIn } from "@/api/types";
import { useT } from "@/i18n/t";
import { Button } from "@/ui/button";
import { Connection, type FormProps } from "./Connection";
import { backupChange, isBackupHalf } from "./draft";
import { TestLine } from "./TestLine";

const NONE = { backup_base_url: "", backup_model: "", backup_api_key: "" } as const;

/** A second provider, which answers when the first does not. Folded away until someone wants one. */
export function Backup({ draft, settings, onChange, change }: FormProps & { change: SettingsIn }) {
  const t = useT();
  const [isOpen, setOpen] = useState(false);
  const isThere = draft.backup_base_url !== "" || draft.backup_model !== "";
  if (!isThere && !isOpen) {
    return (
      <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-2">
        <p className="text-[13px] text-ink-2">{t("backup.none")}</p>
        <Button size="s" onClick={() => setOpen(true)}>
          <Plus aria-hidden className="size-4" />
          {t("backup.add")}
        </Button>
      </div>
    );
  }
  const isLocked = settings.locked.some((name) => name.startsWith("backup_"));
  const remove = () => {
    setOpen(false);
    onChange({ ...NONE, backup_api_key: settings.backup_api_key_set ? "" : null });
  };
  return (
    <fieldset className="flex flex-col gap-4 rounded-xl border border-line-2 p-4">
      <legend className="px-1 text-sm font-semibold">{t("backup.title")}</legend>
      <State draft={draft} settings={settings} />
      <Connection draft={draft} settings={settings} onChange={onChange} prefix="backup_" />
      <TestLine
        change={change}
        of="backup"
        isRemote
        isReachable={draft.backup_base_url.trim() !== ""}
        onPick={(name) => onChange({ backup_model: name })}
      >
        {!isLocked && <Button onClick={remove}>{t("backup.remove")}</Button>}
      </TestLine>
    </fieldset>
  );
}

/** Whether it takes part in runs; of a form that was not saved, what is missing. */
function State({ draft, settings }: Pick<FormProps, "draft" | "settings">) {
  const t = useT();
  const isChanged = Object.keys(backupChange(draft, settings)).length > 0;
  const state = isChanged ? (isBackupHalf(draft) ? "incomplete" : "off") : settings.backup_state;
  const isWrong = state === "incomplete" || state === "dialect";
  return (
    <p role="status" className={isWrong ? "text-[13px] text-bad" : "text-[13px] text-ink-2"}>
      {t(`backup.${state}`)}
    </p>
  );
}
