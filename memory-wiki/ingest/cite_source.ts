/** A source's footnote, as pages cite it. @module */
import type { WikiSource } from "../../contracts/mod.ts";
import { citationLine } from "../markdown/mod.ts";

/** Most characters of a source's name in a citation. */
const MOST_SHOWN = 120;

/** What a source is called in a citation: the end of its path or address, else its title. */
export function shownSource({ provenance: { origin }, title, key }: WikiSource): string {
  const [path = ""] = (origin === "-" ? key : origin).split(/[?#]/, 1);
  const parts = path.split("/").filter((part) => part !== "");
  const name = parts.slice(-2).join("/");
  return (name === "" ? title : name).slice(-MOST_SHOWN);
}

/** The definition of footnote `note` for lines of a source. */
export function citeSource(
  note: string,
  source: WikiSource,
  lines: { readonly startLine: number; readonly endLine: number },
): string {
  return citationLine({
    note,
    file: source.text,
    shown: shownSource(source),
    digest: source.digest,
    startLine: lines.startLine,
    endLine: lines.endLine,
  });
}
