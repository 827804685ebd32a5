/** Answers that come in pieces: server-sent events, and texts read whole, both bounded. @module */
import { createParser, type EventSourceMessage } from "eventsource-parser";

/** One event of a stream; `retry` alone has neither data nor kind. */
export type StreamEvent =
  | (EventSourceMessage & { readonly retry?: undefined })
  | { readonly retry: number };

/**
 * Makes the reader of one stream: takes its pieces, gives whole events. Throws what `tooLong` makes when an event that
 * is not complete holds more than `units` UTF-16 units.
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
 * Reads pieces until an empty one. Of a text that is longer than `units` UTF-16 units its beginning where `cut` says so,
 * else nothing.
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
