/**
 * Bodies of requests in a recording. Those of one conversation begin and end alike, each with all that
 * was said before it: only the first is written whole, each further one by what it has otherwise than
 * the one before it with the same URL and model where that is shorter. So a recording grows as a conversation does.
 * @module
 */
import * as z from "zod";

/** A body by the one before it: its first `before` and last `after` UTF-16 units, `text` between them. */
const Shortened = z.object({
  model: z.string(),
  before: z.int().min(0),
  text: z.string(),
  after: z.int().min(0),
}).strict();

/** What is read of an exchange here; its schema is the model service's. */
const Written = z.looseObject({
  request: z.looseObject({ url: z.string(), body: z.union([z.string(), Shortened]) }),
});

/** An exchange's URL and, where its body says one, its model; undefined for what is none. */
export function askedIn(
  line: string,
): { readonly url: string; readonly model: string | undefined } | undefined {
  const { request } = tryWritten(line) ?? {};
  if (request === undefined) return undefined;
  const { url, body } = request;
  return { url, model: typeof body === "string" ? modelIn(body) : body.model };
}

/** Makes what shortens the exchanges of one recording, in their order. What is no exchange stays as it is. */
export function makeShorten(): (line: string) => string {
  const last = new Map<string, string>();
  return (line) => {
    const written = tryWritten(line);
    const { url = "", body } = written?.request ?? {};
    if (written === undefined || typeof body !== "string") return line;
    const model = modelIn(body);
    if (model === undefined) return line;
    const key = `${url}\0${model}`;
    const previous = last.get(key);
    last.set(key, body);
    if (previous === undefined) return line;
    const short = { model, ...differenceOf(previous, body) };
    const told = JSON.stringify({ ...written, request: { ...written.request, body: short } });
    return told.length < line.length ? told : line;
  };
}

function differenceOf(
  previous: string,
  body: string,
): Pick<z.infer<typeof Shortened>, "before" | "text" | "after"> {
  const most = Math.min(previous.length, body.length);
  let before = 0;
  while (before < most && previous.charCodeAt(before) === body.charCodeAt(before)) before++;
  let after = 0;
  while (
    after < most - before &&
    previous.charCodeAt(previous.length - 1 - after) === body.charCodeAt(body.length - 1 - after)
  ) after++;
  return { before, text: body.slice(before, body.length - after), after };
}

function tryWritten(line: string): z.infer<typeof Written> | undefined {
  try {
    return Written.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function modelIn(body: string): string | undefined {
  try {
    return z.looseObject({ model: z.string() }).safeParse(JSON.parse(body)).data?.model;
  } catch {
    return undefined;
  }
}
