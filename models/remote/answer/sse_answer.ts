/** The events of a provider's answer, whether it streams or says all at once. @module */
import { createParser } from "eventsource-parser";
import { Fault } from "../../../contracts/fault.ts";
import type { WireResponse } from "../endpoint.ts";
import { textOfBody } from "./bounded_body.ts";

/**
 * Gives the data of each server-sent event; the last one also when its blank line is missing. `body` bounds the length of
 * a line and of the whole.
 */
export async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let events: string[] = [];
  // An event without data keeps a connection open and says nothing.
  const parser = createParser({ onEvent: ({ data }) => void (data !== "" && events.push(data)) });
  function read(text: string): readonly string[] {
    events = [];
    parser.feed(text);
    return events;
  }
  for await (const bytes of body) yield* read(decoder.decode(bytes, { stream: true }));
  yield* read(`${decoder.decode()}\n\n`);
}

/**
 * Gives the data of each event. A JSON document is one event: errors come so, and whole answers of
 * servers that do not stream. Rejects with `upstream` where no event came.
 */
export async function* eventsOfAnswer(
  { headers, body }: Pick<WireResponse, "headers" | "body">,
  host: string,
): AsyncGenerator<string, void> {
  const type = headers.get("content-type") ?? "";
  if (/^application\/json\b/i.test(type)) {
    yield await textOfBody(body);
    return;
  }
  let came = false;
  for await (const data of eventsOf(body)) {
    came = true;
    yield data;
  }
  if (came) return;
  const what = type === "" ? "nothing" : (type.split(";", 1)[0] ?? "").slice(0, 60);
  throw new Fault(
    "upstream",
    `Cannot infer: ${host} answers with ${what} and no event of its protocol; look at the model's URL`,
  );
}
