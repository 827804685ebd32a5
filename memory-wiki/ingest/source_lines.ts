/** The lines of a source's text. @module */
import type { WikiSource } from "../../contracts/mod.ts";
import type { WikiStore } from "../store/wiki_store.ts";

/** Lines that are read at once. */
const STEP = 5_000;
/** Most of one step, bytes. */
const STEP_BYTES = 8_000_000;

/** Lines `from` to `to` of a source, all by default. A part of a step that is larger than 8 MB is left out. */
export function linesOf(
  store: WikiStore,
  source: WikiSource,
  from = 1,
  to: number = source.lines,
): readonly string[] {
  const last = Math.min(to, source.lines);
  const lines: string[] = [];
  while (from + lines.length <= last) {
    const start = from + lines.length;
    const end = Math.min(last, start + STEP - 1);
    const text = store.sources.lines(source, start, end, STEP_BYTES);
    const step = text.split("\n");
    lines.push(...step.slice(0, end - start + 1));
  }
  return lines;
}
