/**
 * The one act that lifts an item that strangers wrote: a person's signature, with the passphrase key, over exactly its
 * bytes. docs/sanitize.md.
 * @module
 */
import { verify } from "node:crypto";
import { colourSuffices } from "../contracts/authority/colour.ts";
import { Fault } from "../contracts/base/fault.ts";
import { toJsonObject } from "../contracts/base/json.ts";
import {
  type ContentTrust,
  sanitizeClaim,
  type Sanitized,
  type SanitizeMark,
} from "../contracts/memory/content_trust.ts";
import type { EventLog } from "../contracts/task/store.ts";
import { canonicalJson } from "../port/mod.ts";
import { publicKey, signatureBytes } from "./answer_check.ts";

/** What {@link makeSanitizer} is handed. */
interface SanitizerParts {
  /** The person's passphrase key: raw Ed25519 public key, base64url. */
  readonly stepUpKey?: string | undefined;
  readonly contents: Pick<ContentTrust, "sanitize">;
  readonly log: EventLog;
}

function no(why: string): Fault {
  return new Fault("refused", `Cannot sanitize: ${why}`);
}

/**
 * Makes what takes a person's word for one item. The event is in the log before anything is lifted.
 * @throws Fault `stepUpFailed` for another key than the passphrase key, `refused` for a word that does not fit
 */
export function makeSanitizer(
  { stepUpKey, contents, log }: SanitizerParts,
): (mark: SanitizeMark) => Promise<Sanitized> {
  return async (mark) => {
    if (stepUpKey === undefined || mark.key !== stepUpKey) {
      throw new Fault(
        "stepUpFailed",
        "Cannot sanitize: it needs your passphrase key (`remit key create`; a kernel that runs knows it after `remit stop`)",
      );
    }
    const said = new TextEncoder().encode(canonicalJson(sanitizeClaim(mark)));
    if (!verify(null, said, publicKey(mark.key), signatureBytes(mark.signature))) {
      throw no("the signature is not yours over exactly this item");
    }
    if (colourSuffices(mark.from.colour, mark.to)) throw no(`it is ${mark.from.colour} already`);
    const { kind, bytes, from, to, by, key, task } = mark, chain = task ?? "kernel";
    const [written] = await log.append(chain, [{
      kind: "sanitized",
      // The digest is private: one of a short text would tell the text.
      body: { item: kind, bytes, from: from.colour, to, label: from.label, by, key },
      private: { mark: toJsonObject(mark) },
    }]);
    contents.sanitize(mark);
    return { chain, n: written?.n ?? 0, hash: written?.hash ?? "" };
  };
}
