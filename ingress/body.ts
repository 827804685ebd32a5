/** Reads a request's body within bytes and time. @module */
import type { HeldBody } from "./body_room.ts";
import { joinBytes } from "../port/join_bytes.ts";

/** Most bytes of a body where nobody says otherwise. */
export const MOST_BODY = 4 * 1_048_576;

/** What came of reading. */
export type Body =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "tooLarge" | "tooSlow" | "broken" | "crowded" };

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
  held?: HeldBody,
): Promise<Body> {
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > most) return { kind: "tooLarge" };
  if (request.body === null) return { kind: "bytes", bytes: new Uint8Array() };
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let why: "tooSlow" | "crowded" | undefined;
  const giveUp = (because: "tooSlow" | "crowded"): void => {
    why ??= because;
    chunks.length = 0;
    reader.cancel().catch(() => undefined);
  };
  const stop = after(bodyMs, () => giveUp("tooSlow"));
  held?.gaveWay(() => giveUp("crowded"));
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.length;
      if (held?.take(value.length) === false) {
        giveUp("crowded");
        break;
      }
      if (length > most) {
        await reader.cancel();
        return { kind: "tooLarge" };
      }
      chunks.push(value);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { kind: why ?? "broken" };
  } finally {
    stop();
  }
  if (why !== undefined) return { kind: why };
  held?.whole();
  return { kind: "bytes", bytes: joinBytes(chunks) };
}
