/** Proposals and settlements of a task, folded from its committed outcomes. @module */
import { mixTaints } from "../../../contracts/authority/colour.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { MailRecord } from "../../../contracts/exchange/mail.ts";
import type { JsonObject } from "../../../contracts/base/mod.ts";
import type {
  EvalProposal,
  Proposed,
  Reference,
  Settlement,
} from "../../../contracts/exchange/mod.ts";
import type { ProcessRow } from "../../../contracts/task/mod.ts";
import { decodeXJson, xjsonSource } from "../../../port/xjson.ts";
import { findReference, whyNotHeld, wordsOf } from "./name_tools.ts";
import { type NamedBy, parsePath } from "./names.ts";
import type { MailParts } from "./tool.ts";

/** A settlement without its sequence number. */
export type Settled = Omit<Settlement, "seq">;

/** The proposals of one task. */
export interface Proposals {
  /** The number of the next proposal. */
  next(): number;
  /** Unsettled proposals, oldest first. */
  pending(): readonly Proposed[];
  /** Settlements after the first `after`, in order of settlement. */
  settled(after: number): readonly Settlement[];
  get(n: number): Proposed | undefined;
  /** Folds one outcome's record, ignoring other keys. A proposal is settled only once. */
  fold(record: JsonObject): void;
}

/** An empty fold; `dismissed` receives ids of dismissed messages. */
export function makeProposals(
  dismissed: (ids: NonNullable<MailRecord["dismissed"]>) => void,
): Proposals {
  const proposed = new Map<number, Proposed>();
  const settled: Settlement[] = [];
  let given = 0;

  return Object.freeze<Proposals>({
    next: () => given += 1,
    pending: () =>
      [...proposed.values()].filter(({ n }) => !settled.some(({ proposal }) => proposal === n)),
    settled: (after) => settled.slice(after),
    get: (n) => proposed.get(n),
    fold(record): void {
      const { data } = MailRecord.safeParse(record["mail"]);
      if (data === undefined) return;
      if (data.proposed !== undefined) {
        proposed.set(data.proposed.n, data.proposed);
        given = Math.max(given, data.proposed.n);
      }
      for (const each of data.settled ?? []) {
        if (settled.some(({ proposal }) => proposal === each.proposal)) continue;
        settled.push({ ...each, seq: settled.length + 1 });
      }
      dismissed(data.dismissed ?? []);
    },
  });
}

/** Maximum length of a program with its constants. */
const MAX_PROGRAM = 200_000;

/**
 * The complete program: a person is shown this text, and exactly this text runs.
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
  let taint = mixTaints(process);
  const lines: string[] = [];
  for (const [n, name] of codeNames.entries()) {
    const path = parsePath(edgeNames[n]);
    const { named, ...by } = await findReference(parts, path, process);
    const why = whyNotHeld(parts, named, process);
    if (why !== undefined) {
      throw new Fault("refused", `Cannot propose a program with "${path.join("/")}": ${why}`);
    }
    taint = mixTaints(taint, by);
    lines.push(`const ${name} = ${constantOf(named)};`);
  }
  const program = [...lines, source].join("\n");
  if (program.length <= MAX_PROGRAM) return { program, ...taint };
  throw new Fault(
    "tooLarge",
    `Cannot propose the program: with its values it is over ${MAX_PROGRAM} characters`,
  );
}

function constantOf(named: Reference): string {
  switch (named.kind) {
    case "value":
      return xjsonSource(decodeXJson(JSON.parse(named.json)));
    case "tool":
      return `(args = {}) => remit.tool(${JSON.stringify(named.tool)}, args)`;
    default:
      // Not callable: the constant is a description.
      return JSON.stringify(wordsOf(named));
  }
}
