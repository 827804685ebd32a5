/** Reads a request's body within bytes and time. @module */

/** Most bytes of a body where nobody says otherwise. */
export const MOST_BODY = 4 * 1_048_576;

/** What came of reading. */
export type Body =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "tooLarge" | "tooSlow" | "broken" };

/** Starts something after some milliseconds; the returned function takes it back. */
export type After = (ms: number, then: () => void) => () => void;

/** Reads it. What is left of a body that is refused is not read. */
export async function readBody(
  request: Request,
  { bodyMs, after, most }: {
    readonly bodyMs: number;
    readonly after: After;
    readonly most: number;
  },
): Promise<Body> {
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > most) return { kind: "tooLarge" };
  if (request.body === null) return { kind: "bytes", bytes: new Uint8Array() };
  const reader = request.body.getReader();
  let late = false;
  const stop = after(bodyMs, () => {
    late = true;
    reader.cancel().catch(() => undefined);
  });
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.length;
      if (length > most) {
        await reader.cancel();
        return { kind: "tooLarge" };
      }
      chunks.push(value);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { kind: late ? "tooSlow" : "broken" };
  } finally {
    stop();
  }
  if (late) return { kind: "tooSlow" };
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return { kind: "bytes", bytes };
}
