import { isKey, type T } from "@/i18n/t";
import { ApiError } from "./client";

/** What a person reads about a failure; the server's own words if ours are missing. */
export function errorWords(error: unknown, t: T): string {
  if (!(error instanceof ApiError)) return t("problem.internal_error");
  const key = `problem.${error.code}`;
  if (isKey(key)) return t(key, error.params);
  return error.message || t("problem.internal_error");
}
