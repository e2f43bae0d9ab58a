import type { Settings, SettingsIn } from "@/api/types";
import type { Draft } from "./Connection";

export const PROVIDERS = ["embedded", "openai", "scripted"] as const;

export function draftOf(settings: Settings): Draft {
  const wanted = window.location.hash.slice(1);
  const provider = PROVIDERS.find((each) => each === wanted) ?? settings.provider;
  return {
    provider,
    base_url: settings.base_url,
    model: settings.provider === "openai" ? settings.model : "",
    api_key: null,
    dialect: settings.dialect,
    backup_base_url: settings.backup_base_url,
    backup_model: settings.backup_model,
    backup_api_key: null,
  };
}

/** Only what differs from what is stored, so that a locked field is never written. */
export function changeOf(draft: Draft, settings: Settings): SettingsIn {
  const change: SettingsIn = {};
  if (draft.provider !== settings.provider) change.provider = draft.provider;
  if (draft.api_key !== null) change.api_key = draft.api_key;
  if (draft.dialect !== settings.dialect) change.dialect = draft.dialect;
  const [base_url, model] = [draft.base_url.trim(), draft.model.trim()];
  if (draft.provider === "openai") {
    if (base_url !== settings.base_url) change.base_url = base_url;
    if (model !== settings.model) change.model = model;
    return { ...change, ...backupChange(draft, settings) };
  }
  if (change.provider && settings.model) change.model = "";
  return change;
}

/** What differs of the backup. */
export function backupChange(draft: Draft, settings: Settings): SettingsIn {
  const change: SettingsIn = {};
  const [base_url, model] = [draft.backup_base_url.trim(), draft.backup_model.trim()];
  if (base_url !== settings.backup_base_url) change.backup_base_url = base_url;
  if (model !== settings.backup_model) change.backup_model = model;
  if (draft.backup_api_key !== null) change.backup_api_key = draft.backup_api_key;
  return change;
}

/** An address without a model, or a model without an address: nobody would ever ask it. */
export function isBackupHalf(draft: Draft): boolean {
  return (draft.backup_base_url.trim() === "") !== (draft.backup_model.trim() === "");
}
