/** Derives page names from titles, and the keys by which links find pages. @module */
import { createHash } from "node:crypto";
import { PageName } from "../../contracts/memory/mod.ts";

/** A file name holds 255 bytes, including `.md`, a suffix and the mark of a temporary file. */
const MAX_BYTES = 180;
/** Code points that {@link PageName} allows. */
const MAX_POINTS = 120;
/** Words for signs that distinguish titles. */
const SIGNS: Readonly<Record<string, string>> = { "+": " plus ", "#": " sharp ", "&": " and " };
/** File names that some systems reserve, whatever the extension. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d|index|log|agents)$/;
const ENCODER = new TextEncoder();

/**
 * The name of a page with this title: lower case, letters and digits of any script, `-` between words. A
 * title without any becomes `page-` and 8 hex characters of its hash. Different titles may have the same
 * name.
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
 * The key of a link target: `[[Access control]]`, `[[access-control]]` and `[[pages/access-control.md]]` have
 * the same. Compare it with keys of names, titles and aliases.
 */
export function linkKey(target: string): string {
  const [path = ""] = target.split(/[#|]/, 1);
  return pageNameOf(path.trim().replace(/^(?:\.?\/)?pages\//i, "").replace(/\.md$/i, ""));
}

/** `name` with `-` and a suffix, within the limits of names. */
export function suffixed(name: PageName, suffix: string): PageName {
  const tail = pageNameOf(suffix);
  const head = shortened(name, MAX_POINTS - [...tail].length - 1, MAX_BYTES - bytes(tail) - 1);
  return PageName.parse(`${head}-${tail}`);
}

function shortened(words: string, points = MAX_POINTS, max = MAX_BYTES): string {
  let kept = "";
  let [count, size] = [0, 0];
  for (const point of words) {
    count += 1;
    size += bytes(point);
    if (count > points || size > max) break;
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
