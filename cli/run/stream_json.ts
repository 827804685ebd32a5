/** `--output-format stream-json`: a task's events as JSON lines (docs/stream_json.md). @module */
import * as z from "zod";
import { Artifact } from "../../contracts/tool/mod.ts";
import type { Seen, SeenEvent } from "../audit/event_fields.ts";
import type { TraceLine } from "../audit/trace.ts";

/** Version of the lines; raised when a field is removed or changes its meaning, not when one is added. */
const VERSION = 1;

/** One line: `v`, `type` and the fields of that type. */
export type StreamLine = TraceLine & { readonly v: typeof VERSION };

const line = (type: string, rest: Readonly<Record<string, unknown>> = {}): StreamLine => ({
  v: VERSION,
  type,
  ...rest,
});

/** The first line of a stream. */
export function startLine(task: string, model: string): StreamLine {
  return line("start", { task, model });
}

/** The last line of a stream: the document that `--json` prints. */
export function resultLine(document: Readonly<Record<string, unknown>>): StreamLine {
  return line("result", document);
}

/** The line for a task that did not end as done. */
export function errorLine(code: string, message: string): StreamLine {
  return line("error", { code, message });
}

/** A line for an artifact that a call put into the outbox, from the committed record. */
function published(event: SeenEvent): readonly StreamLine[] {
  const { data } = z.object({ artifact: Artifact }).safeParse(event.private["record"]);
  if (data === undefined) return [];
  const { id, name, digest, bytes } = data.artifact;
  return [line("artifact", { artifact: id, name, hash: digest, bytes })];
}

/** Makes lines from what is seen of a task; `trace` makes the lines that the execution trace has, too. */
export function makeStreamLines(
  trace: (event: SeenEvent) => readonly TraceLine[],
): (seen: Seen) => readonly StreamLine[] {
  const traced = (event: SeenEvent): readonly StreamLine[] =>
    trace(event).map((each) => ({ v: VERSION, ...each }));
  return (seen) => {
    if (seen.kind === "chunk") return [line("text", { content: seen.text })];
    if (seen.kind === "progress") return [line("progress", { content: seen.text })];
    if (seen.kind === "thinking") return [line("thinking", { characters: seen.characters })];
    if (seen.kind === "reading") return [line("reading", { done: seen.done, total: seen.total })];
    if (seen.kind !== "event") return [];
    const { event } = seen;
    switch (event.event) {
      case "inferred": {
        // Ends the text of the pieces before it; a text that broke off is discarded, and the model starts again.
        const broke = event.body["broke"] === true;
        return [
          line("text", { content: "", final: true, ...(broke ? { broke } : {}) }),
          ...traced(event),
        ];
      }
      case "outcome":
        return [...traced(event), ...published(event)];
      default:
        return traced(event);
    }
  };
}
