/** A request's body, or why there is none, in words. @module */
import { type Ask, refuse } from "./answers.ts";
import { type After, MOST_BODY, readBody } from "./body.ts";

/** Bounds of a body. */
export interface BodyBounds {
  readonly bodyMs: number;
  readonly after: After;
  /** Bytes; absent: 4 MiB. */
  readonly most?: number;
}

/** Reads it; a response when it is refused. */
export async function wholeBody(
  c: Ask,
  { bodyMs, after, most = MOST_BODY }: BodyBounds,
): Promise<Uint8Array<ArrayBuffer> | Response> {
  const body = await readBody(c.req.raw, { bodyMs, after, most }, c.env.body);
  switch (body.kind) {
    case "tooLarge":
      return refuse(c, 413, `the body is longer than ${most / 1_048_576} MiB`, {
        connection: "close",
      });
    case "tooSlow":
      return refuse(c, 408, "the body took too long", { connection: "close" });
    case "crowded":
      return refuse(c, 503, "too much is being sent just now", {
        ...{ "retry-after": "10", connection: "close" },
      });
    case "broken":
      return refuse(c, 400, "the body broke off");
    case "bytes":
      return body.bytes;
  }
}
