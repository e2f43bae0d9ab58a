import { createParser } from "eventsource-parser";
import { ApiError, failureOf } from "./client";
import type { WireEvent } from "./types";

/** The server writes a comment every 15 s; after this silence the line is dead. */
const SILENCE_MS = 40_000;

/**
 * Read an event stream until it ends. `onEvent` gets each frame as it comes; `onOpen` says that the
 * server has accepted. Returns when the stream ends, raises ApiError if it was refused.
 */
export async function readStream(
  url: string,
  signal: AbortSignal,
  onOpen: () => void,
  onEvent: (event: WireEvent) => void,
): Promise<void> {
  const dead = new AbortController();
  const either = AbortSignal.any([signal, dead.signal]);
  const response = await fetch(url, { headers: { accept: "text/event-stream" }, signal: either, cache: "no-store" });
  if (!response.ok) throw await failureOf(response);
  if (!response.body) throw new ApiError("offline", 0, "no body");
  onOpen();
  const parser = createParser({ onEvent: (message) => onEvent(JSON.parse(message.data) as WireEvent) });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let timer = setTimeout(() => dead.abort(), SILENCE_MS);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => dead.abort(), SILENCE_MS);
      parser.feed(value);
    }
  } finally {
    clearTimeout(timer);
  }
}
