/**
 * The only act that raises the colour of untrusted content: a person's signature, with the
 * passphrase key, over exactly these bytes. docs/sanitize.md.
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

/** The parts of {@link makeSanitizer}. */
interface SanitizerParts {
  /** The person's passphrase key: raw Ed25519 public key, base64url. */
  readonly stepUpKey?: string | undefined;
  readonly contents: Pick<ContentTrust, "sanitize">;
  readonly log: EventLog;
}

function refusal(why: string): Fault {
  return new Fault("refused", `Cannot sanitize: ${why}`);
}

/**
 * Makes the function that accepts a person's signed mark for one item. The event is logged before
 * the colour is raised.
 * @throws Fault `stepUpFailed` for any key but the passphrase key, `refused` for a mark that does
 * not apply
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
    const signed = new TextEncoder().encode(canonicalJson(sanitizeClaim(mark)));
    if (!verify(null, signed, publicKey(mark.key), signatureBytes(mark.signature))) {
      throw refusal("the signature is not yours over exactly this item");
    }
    if (colourSuffices(mark.from.colour, mark.to)) {
      throw refusal(`it is ${mark.from.colour} already`);
    }
    const { kind, bytes, from, to, by, key, task } = mark, chain = task ?? "kernel";
    const [written] = await log.append(chain, [{
      kind: "sanitized",
      // The digest is private: the digest of a short text would reveal the text.
      body: { item: kind, bytes, from: from.colour, to, label: from.label, by, key },
      private: { mark: toJsonObject(mark) },
    }]);
    contents.sanitize(mark);
    return { chain, n: written?.n ?? 0, hash: written?.hash ?? "" };
  };
}
