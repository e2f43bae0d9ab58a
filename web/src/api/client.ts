import createClient from "openapi-fetch";
import type { Params } from "@/i18n/t";
import { useLogin } from "./login";
import type { paths } from "./schema";

/** An answer that is no success: the envelope of docs/wire.md, or `offline` if none came. */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    readonly status: number,
    message: string,
    readonly params: Params = {},
  ) {
    super(message);
  }
}

interface Envelope {
  code?: unknown;
  message?: unknown;
  params?: unknown;
}

function read(status: number, body: unknown): ApiError {
  const { code, message, params } = (typeof body === "object" && body ? body : {}) as Envelope;
  if (code === "login_required") useLogin.setState({ isRequired: true });
  return new ApiError(
    typeof code === "string" ? code : "internal_error",
    status,
    typeof message === "string" ? message : "",
    typeof params === "object" && params ? (params as Params) : {},
  );
}

export const api = createClient<paths>({ baseUrl: window.location.origin });

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of an answer; raises ApiError for anything else. */
export async function ask<T>(call: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await call;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError("offline", 0, String(error));
  }
  if (!answer.response.ok) throw read(answer.response.status, answer.error);
  return answer.data as T;
}

/** The failure an unsuccessful plain response stands for. */
export async function failureOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  return read(response.status, body);
}
