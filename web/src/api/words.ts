import { isKey, type Params, type T } from "@/i18n/t";
import { ApiError } from "./client";

/** A code with what its words need; the message is the server's, in English. */
interface Coded {
  code: string;
  params: Params;
  message: string;
}

/** What a person reads about a failure; the server's own words if ours are missing. */
export function errorWords(error: unknown, t: T): string {
  return error instanceof ApiError ? problemWords(error, t) : t("problem.internal_error");
}

export function problemWords({ code, params, message }: Coded, t: T): string {
  const key = `problem.${code}`;
  if (isKey(key)) return t(key, params);
  return message || t("problem.internal_error");
}

export function warningWords({ code, params, message }: Coded, t: T): string {
  const key = `warning.${code}`;
  return isKey(key) ? t(key, { n: params.count, ...params }) : message;
}
