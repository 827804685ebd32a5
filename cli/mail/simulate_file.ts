/** The file format of `remit simulate`: HOST's mail and decisions, and expected mail, in order. @module */
import { parse as parseYaml } from "yaml";
import * as z from "zod";
import { Fault } from "../../contracts/base/mod.ts";
import { EvalProposal, PetName } from "../../contracts/exchange/mod.ts";

const words = z.string().min(1).max(65_536);

/** One step: HOST writes; HOST decides on an expected proposal; or mail to HOST is expected. */
export const SimulateStep = z.union([
  z.object({
    say: words,
    /** Attachments of the mail, as extended JSON. */
    attach: z.record(PetName, z.json()).optional(),
  }).strict(),
  z.object({ proposal: words, grant: z.literal(true) }).strict(),
  z.object({ proposal: words, reject: words }).strict(),
  z.object({
    proposal: words,
    counter: EvalProposal.partial({ codeNames: true, edgeNames: true }).extend({
      why: z.string().max(2_000).optional(),
    }).strict(),
  }).strict(),
  z.object({ mail: words }).strict(),
]);
/** See {@link SimulateStep}. */
export type SimulateStep = z.infer<typeof SimulateStep>;

/** A whole file. `play` is the script of the scripted model, where no other model is named. */
const SimulateFile = z.object({
  simulate: z.string().min(1).max(128),
  play: z.json().optional(),
  steps: z.array(SimulateStep).min(1).max(1_000),
}).strict().refine(({ steps: [first] }) => first !== undefined && "say" in first, {
  message: "the first step says something",
});
/** See {@link SimulateFile}. */
export type SimulateFile = z.infer<typeof SimulateFile>;

/** Parses a file. @throws Fault `invalidInput` with file and place */
export function parseSimulation(text: string, file: string): SimulateFile {
  let value: unknown;
  try {
    value = parseYaml(text, { maxAliasCount: 0, logLevel: "error" });
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new Fault("invalidInput", `Cannot read "${file}": ${why}`, { cause: error });
  }
  const parsed = SimulateFile.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Fault(
    "invalidInput",
    `Cannot read "${file}": ${issue?.path.join(".") || "file"}: ${issue?.message}`,
  );
}
