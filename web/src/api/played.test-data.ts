/** A server for tests: what it answers by method and path, and what it was asked. */
export interface Asked {
  at: string;
  body: unknown;
}

type Answers = Record<string, (body: unknown) => Response>;

export const asked: Asked[] = [];
let answers: Answers = {};

export function answer(next: Answers): void {
  asked.length = 0;
  answers = next;
}

export const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });
export const done = () => new Response(null, { status: 204 });
export const refused = (status: number, code: string, params: object = {}) => json({ code, message: code, params }, status);

/** In place of `fetch`. What nobody has an answer for is not there. */
export async function play(input: Request | string, init?: RequestInit): Promise<Response> {
  const request = typeof input === "string" ? new Request(new URL(input, window.location.origin), init) : input;
  const { pathname, search } = new URL(request.url);
  const at = `${request.method} ${pathname}${search}`;
  const text = await request.text();
  const body: unknown = text ? JSON.parse(text) : null;
  asked.push({ at, body });
  return answers[at]?.(body) ?? refused(404, "not_found");
}
