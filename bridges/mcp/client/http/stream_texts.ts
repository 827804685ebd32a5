/**
 * Reads bodies that arrive in pieces: server-sent events, or whole texts, both within limits. Used
 * by kernel_fetch.ts and bridges/a2a/client/.
 * @module
 */
import { createParser, type EventSourceMessage } from "eventsource-parser";

/** One server-sent event; a `retry` field comes as an event of its own. */
export type StreamEvent =
  | (EventSourceMessage & { readonly retry?: undefined })
  | { readonly retry: number };

/**
 * Makes a parser of server-sent events: pieces in, whole events out. Throws the error of `tooLong`
 * when an incomplete event holds more than `units` UTF-16 units.
 */
export function makeEvents(
  units: number,
  tooLong: () => Error,
): (text: string) => readonly StreamEvent[] {
  let events: StreamEvent[] = [];
  const parser = createParser({
    maxBufferSize: units,
    onEvent: (event) => events.push(event),
    onRetry: (retry) => events.push({ retry }),
    onError({ type }) {
      // Unknown fields are ignored, as the HTML standard asks.
      if (type === "max-buffer-size-exceeded") throw tooLong();
    },
  });
  return (text) => {
    events = [];
    parser.feed(text);
    return events;
  };
}

/**
 * Reads pieces until an empty one. A text of more than `units` UTF-16 units is cut if `cut` is set,
 * else undefined.
 */
export async function readAll(
  pieces: () => Promise<Uint8Array>,
  units: number,
  cut: boolean,
): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const bytes = await pieces();
    if (bytes.length === 0) return text + decoder.decode();
    text += decoder.decode(bytes, { stream: true });
    if (text.length > units) return cut ? text.slice(0, units) : undefined;
  }
}
