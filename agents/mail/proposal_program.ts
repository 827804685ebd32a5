/** What a proposed program runs with: the names that it says, as constants before its text. @module */
import {
  type EvalProposal,
  Fault,
  mixColour,
  mixLabel,
  type ProcessRow,
  type Reference,
} from "../../contracts/mod.ts";
import { decodeXJson, xjsonSource } from "../../port/xjson.ts";
import { findReference, whyNotHeld, wordsOf } from "./name_tools.ts";
import type { MailParts } from "./tool.ts";
import { parsePath } from "./names.ts";
import type { NamedBy } from "./names_store.ts";

/** Longest program, with its constants. */
const LONGEST = 200_000;

/**
 * The whole program: this text is what a person is shown, and exactly what runs.
 * @throws Fault `notFound`, `refused`, `invalidArguments`, `tooLarge`
 */
export async function programFor(
  parts: MailParts,
  { source, codeNames, edgeNames }: EvalProposal,
  process: ProcessRow,
): Promise<NamedBy & { readonly program: string }> {
  if (codeNames.length !== edgeNames.length || new Set(codeNames).size !== codeNames.length) {
    throw new Fault(
      "invalidArguments",
      `Cannot propose the program: it has ${codeNames.length} code names and ${edgeNames.length} ` +
        "edge names; give one for each, all different",
    );
  }
  let { colour, label } = process;
  const lines: string[] = [];
  for (const [n, name] of codeNames.entries()) {
    const path = parsePath(edgeNames[n]);
    const { named, ...by } = await findReference(parts, path, process);
    const why = whyNotHeld(parts, named, process);
    if (why !== undefined) {
      throw new Fault("refused", `Cannot propose a program with "${path.join("/")}": ${why}`);
    }
    colour = mixColour(colour, by.colour);
    label = mixLabel(label, by.label);
    lines.push(`const ${name} = ${constantOf(named)};`);
  }
  const program = [...lines, source].join("\n");
  if (program.length <= LONGEST) return { program, colour, label };
  throw new Fault(
    "tooLarge",
    `Cannot propose the program: with its values it is over ${LONGEST} characters`,
  );
}

function constantOf(named: Reference): string {
  switch (named.kind) {
    case "value":
      return xjsonSource(decodeXJson(JSON.parse(named.json)));
    case "tool":
      return `(args = {}) => remit.tool(${JSON.stringify(named.tool)}, args)`;
    default:
      // Nothing that a program could call: it says what it is.
      return JSON.stringify(wordsOf(named));
  }
}
