/** Parses what a toolhost answers. TRUST: a toolhost runs tools that may be hostile. @module */
import * as z from "zod";
import {
  Colour,
  type ContentLookup,
  Digest,
  Fault,
  type HostCallAnswer,
  type Json,
  Label,
  mixColour,
  mixLabel,
  Source,
  StagedChange,
} from "../../contracts/mod.ts";

const Answer = z.object({
  content: z.string(),
  colour: Colour,
  label: Label,
  sources: z.array(Source).max(1_000),
  value: z.unknown().optional(),
  observed: z.string().max(512).optional(),
  written: z.string().max(512).optional(),
  staged: z.array(StagedChange).max(10_000).optional(),
  unstaged: z.array(z.string().max(4_096)).max(10_000).optional(),
  writtenBytes: z.int().min(0).optional(),
  contents: z.array(Digest).max(10_000).optional(),
}).strict();

/** Parses; throws `upstream` naming the part that does not fit. */
export function parseHostAnswer(raw: Json, tool: string): HostCallAnswer {
  const { success, data, error } = Answer.safeParse(raw);
  if (!success) {
    const where = error.issues[0]?.path.join(".") ?? "";
    throw new Fault("upstream", `Cannot use the answer of "${tool}": "${where}" does not parse`);
  }
  // zod keeps absent properties absent; its types cannot say so, nor that unknown JSON is Json.
  return data as HostCallAnswer;
}

/** An answer with what is known of the contents that it came from mixed in, also into what it stages. */
export function withKnown(answer: HostCallAnswer, known: ContentLookup): HostCallAnswer {
  const { contents, ...rest } = answer;
  if (contents === undefined) return answer;
  const found = known.of(contents);
  if (found.colour === "BLUE" && found.label === "public") return rest;
  const mixed = <T extends Pick<HostCallAnswer, "colour" | "label">>(each: T): T => ({
    ...each,
    colour: mixColour(each.colour, found.colour),
    label: mixLabel(each.label, found.label),
  });
  return {
    ...mixed(rest),
    sources: rest.sources.map(mixed),
    ...(rest.staged === undefined ? {} : { staged: rest.staged.map(mixed) }),
  };
}
