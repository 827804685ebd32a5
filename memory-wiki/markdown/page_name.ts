/** Names of pages out of titles, and the key under which a link finds its page. @module */
import { createHash } from "node:crypto";
import { PageName } from "../../contracts/memory/mod.ts";

/** A file name holds 255 bytes: `.md`, a suffix and a temporary file's mark must fit too. */
const MAX_BYTES = 180;
/** Code points that {@link PageName} allows. */
const MAX_POINTS = 120;
/** What a title says with signs alone. */
const SIGNS: Readonly<Record<string, string>> = { "+": " plus ", "#": " sharp ", "&": " and " };
/** Names that no file has on some machines, whatever follows the dot. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d|index|log|agents)$/;
const ENCODER = new TextEncoder();

/**
 * The name of a page with this title: lower case, letters and digits of any script, `-` between words. A title
 * without any gives `page-` and 8 hex characters of its hash. Different titles may have one name.
 * @example
 * ```ts
 * import { pageNameOf } from "./page_name.ts";
 * pageNameOf("Access Control"); // access-control
 * pageNameOf("../../etc/passwd"); // etc-passwd
 * ```
 */
export function pageNameOf(title: string): PageName {
  const words = title.slice(0, 2_000).normalize("NFKC").toLowerCase().normalize("NFC")
    .replace(/[+#&]/g, (sign) => SIGNS[sign] ?? sign)
    .replace(/[\p{Cf}'’]/gu, "")
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, "-")
    .replace(/(^|-)[\p{M}-]+/gu, "$1")
    .replace(/-$/, "");
  const name = shortened(words);
  if (name === "") return PageName.parse(`page-${hash(title)}`);
  return PageName.parse(RESERVED.test(name) ? `${name}-page` : name);
}

/**
 * What a link and the page that it means have in common: `[[Access control]]`, `[[access-control]]` and
 * `[[pages/access-control.md]]` have one key. Compare it with the keys of names, titles and aliases.
 */
export function linkKey(target: string): string {
  const [path = ""] = target.split(/[#|]/, 1);
  return pageNameOf(path.trim().replace(/^(?:\.?\/)?pages\//i, "").replace(/\.md$/i, ""));
}

/** `name` with `-` and a suffix, still a name. */
export function suffixed(name: PageName, suffix: string): PageName {
  const tail = pageNameOf(suffix);
  const head = shortened(name, MAX_POINTS - [...tail].length - 1, MAX_BYTES - bytes(tail) - 1);
  return PageName.parse(`${head}-${tail}`);
}

function shortened(words: string, points = MAX_POINTS, most = MAX_BYTES): string {
  let kept = "";
  let [count, size] = [0, 0];
  for (const point of words) {
    count += 1;
    size += bytes(point);
    if (count > points || size > most) break;
    kept += point;
  }
  return kept.replace(/-+$/, "");
}

function bytes(text: string): number {
  return ENCODER.encode(text).length;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
