/**
 * Shortens the bodies of requests in a recording. Bodies of one conversation repeat all that came
 * before: the first is written whole, later ones as the difference to the body before with the same
 * URL and model, if that is shorter. So a recording grows linearly with its conversation.
 * @module
 */
import * as z from "zod";

/** A difference: `text` between the first `before` and last `after` UTF-16 units of the body before. */
const Shortened = z.object({
  model: z.string(),
  before: z.int().min(0),
  text: z.string(),
  after: z.int().min(0),
}).strict();

/** The part of an exchange that is read here; the model service has the whole schema. */
const Written = z.looseObject({
  request: z.looseObject({ url: z.string(), body: z.union([z.string(), Shortened]) }),
});

/** An exchange's URL, and the model in its body; undefined for a line that is no exchange. */
export function askedIn(
  line: string,
): { readonly url: string; readonly model: string | undefined } | undefined {
  const { request } = tryWritten(line) ?? {};
  if (request === undefined) return undefined;
  const { url, body } = request;
  return { url, model: typeof body === "string" ? modelIn(body) : body.model };
}

/** Makes the function that shortens a recording's exchanges, in order; other lines stay unchanged. */
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
    const shortened = JSON.stringify({ ...written, request: { ...written.request, body: short } });
    return shortened.length < line.length ? shortened : line;
  };
}

function differenceOf(
  previous: string,
  body: string,
): Pick<z.infer<typeof Shortened>, "before" | "text" | "after"> {
  const max = Math.min(previous.length, body.length);
  let before = 0;
  while (before < max && previous.charCodeAt(before) === body.charCodeAt(before)) before++;
  let after = 0;
  while (
    after < max - before &&
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
