/** Signed words of persons that one very version of a page is trusted more, or is less confidential. @module */
import { createPublicKey, verify } from "node:crypto";
import {
  Fault,
  type PageMark,
  PageMark as PageMarkSchema,
  pageMarkText,
} from "../../../contracts/mod.ts";
import { changed, colourNumber, type Inside, labelNumber } from "../inside.ts";
import { pageRow } from "./versions.ts";
import { settle } from "../settle.ts";
import { markedTrust } from "../trust_rules.ts";
import { appendEvent } from "../wiki_log.ts";

/**
 * Checks the mark, then the page has its colour and label for as long as it has these bytes.
 * @throws Fault `refused` for a key that is not trusted, a wrong signature, or other bytes; `notFound`.
 */
export function markPage(inside: Inside, mark: PageMark, trustedKeys: readonly string[]): void {
  const { db } = inside;
  const parsed = PageMarkSchema.safeParse(mark);
  if (!parsed.success) throw refusal(String(mark.page), "it is no mark");
  const { key, signature, ...signed } = parsed.data;
  if (!trustedKeys.includes(key)) throw refusal(signed.page, "its key is not trusted");
  if (!holds(pageMarkText(signed), key, signature)) {
    throw refusal(signed.page, "its signature is wrong");
  }
  db.transaction(`mark page "${signed.page}"`, () => {
    const row = pageRow(inside, signed.page);
    if (row === undefined || row.deleted) {
      throw new Fault("notFound", `Cannot mark page "${signed.page}": there is none`);
    }
    if (row.page.digest !== signed.digest) {
      throw refusal(signed.page, "it was signed for other bytes than the page has now");
    }
    const trust = markedTrust(signed);
    const page = { ...row.page, ...trust };
    const [colour, label] = [colourNumber(trust.colour), labelNumber(trust.label)];
    db.run(
      "UPDATE pages SET page = ?, label = ? WHERE name = ?",
      JSON.stringify(page),
      label,
      page.name,
    );
    db.run(
      "UPDATE page_versions SET colour = ?, label = ? WHERE name = ? AND version = ?",
      colour,
      label,
      page.name,
      page.version,
    );
    // These very bytes are what was signed, wherever they come from next.
    db.run(
      "UPDATE digests SET colour = ?, label = ?, told = 2 WHERE digest = ?",
      colour,
      label,
      page.digest,
    );
    db.run(
      "INSERT OR REPLACE INTO marks(page, digest, mark) VALUES(?, ?, ?)",
      page.name,
      page.digest,
      JSON.stringify(parsed.data),
    );
    appendEvent(inside, {
      kind: label < labelNumber(row.page.label) ? "redact" : "sanitize",
      by: signed.by,
      text:
        `${page.name} version ${page.version} is ${trust.colour} and ${trust.label} by a signed mark`,
    });
    changed(db, "pages");
  });
  settle(inside);
}

function refusal(page: string, why: string): Fault {
  return new Fault("refused", `Cannot mark page "${page}": ${why}`);
}

function holds(text: string, key: string, signature: string): boolean {
  try {
    const made = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: key }, format: "jwk" });
    const bytes = Uint8Array.fromBase64(signature, { alphabet: "base64url" });
    return bytes.length === 64 && verify(null, new TextEncoder().encode(text), made, bytes);
  } catch (error) {
    // No point of the curve, or no base64url.
    if (!(error instanceof Error)) throw error;
    return false;
  }
}
