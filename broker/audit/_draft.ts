/** Events made ready before their place in a chain is known. @module */
import type { NewEvent } from "../../contracts/event.ts";
import { Fault } from "../../contracts/fault.ts";
import type { BlobRow, EventRow } from "../../contracts/store.ts";
import { canonicalJson } from "../../port/mod.ts";
import { makeBlob, SALT_BYTES } from "./private.ts";
import { MOST_SEALED } from "./seal.ts";

/** Most characters of a body, as contracts/receipt.ts has it. */
const MOST_BODY = 65_536;
const CHAIN_NAME = /^[\x21-\x7e]{1,16}$/;

/** One append's events and contents. */
export interface Draft {
  readonly events: readonly Omit<EventRow, "n" | "hash">[];
  readonly blobs: readonly BlobRow[];
}

/** Bodies as canonical JSON, private parts as salted blobs. Throws `tooLarge` past the limits. */
export function draftEvents(
  task: string,
  events: readonly NewEvent[],
  { at, random }: { readonly at: number; readonly random: (length: number) => Uint8Array },
): Draft {
  if (!CHAIN_NAME.test(task)) throw new TypeError(`Cannot append: "${task}" is not a chain`);
  if (events.length > MOST_SEALED) {
    throw new Fault("tooLarge", `Cannot append: more than ${MOST_SEALED} events at once`);
  }
  const blobs: BlobRow[] = [];
  const drafted = events.map(({ kind, body, private: content }) => {
    if (kind === "seal") throw new TypeError("Cannot append: seals are made by the log");
    if (Object.hasOwn(body, "private")) {
      throw new TypeError("Cannot append: `private` in a body is the log's own key");
    }
    let whole = body;
    if (content !== undefined) {
      const blob = makeBlob(task, content, random(SALT_BYTES));
      blobs.push(blob);
      whole = { ...body, private: blob.digest };
    }
    const text = canonicalJson(whole);
    if (text.length > MOST_BODY) {
      throw new Fault(
        "tooLarge",
        `Cannot append ${kind}: its body is over ${MOST_BODY} characters; content belongs in private`,
      );
    }
    return { task, kind, at, body: text };
  });
  return { events: drafted, blobs };
}
