/** The closing summary of a task, as text and as one JSON document. @module */
import type { Json } from "../../contracts/base/mod.ts";
import type { AgentTask, Staged } from "../../contracts/task/mod.ts";
import type { StagedChange } from "../../contracts/tool/mod.ts";
import { displayText } from "../../text/mod.ts";
import { columnsOf, cutFront, cutTo } from "../terminal/columns.ts";
import type { Screen } from "../powers.ts";
import type { Did, Tally } from "./tally.ts";

/** A changed file in the JSON document. */
export interface ChangedFile {
  readonly path: string;
  readonly kind: "added" | "changed" | "deleted";
  readonly state: "applied" | "staged" | "undone";
  readonly bytes: number;
}

function kindOf(change: StagedChange): ChangedFile["kind"] {
  if (change.base === undefined) return "added";
  return change.next === undefined ? "deleted" : "changed";
}

/** Every file that a task changed or proposes to change. */
export function changedFiles(staged: Pick<Staged, "changes" | "applied">): ChangedFile[] {
  const list = (changes: readonly StagedChange[], state: ChangedFile["state"]): ChangedFile[] =>
    changes.map((change) => ({
      path: change.path,
      kind: kindOf(change),
      state,
      bytes: change.bytes,
    }));
  return [
    ...staged.applied.flatMap((patch) => list(patch.changes, patch.undone ? "undone" : "applied")),
    ...list(staged.changes, "staged"),
  ];
}

/** The result of a run. */
export interface RunResult {
  readonly task: AgentTask;
  readonly exit: number;
  readonly changes: readonly ChangedFile[];
  readonly receipts: readonly Json[];
  readonly head: string;
}

/** The document that `--json` prints. */
export function resultDocument(result: RunResult, tally: Tally): Record<string, unknown> {
  const { task } = result;
  return {
    task: task.id,
    status: task.status,
    exit: result.exit,
    ...(task.answer === undefined ? {} : { answer: task.answer }),
    ...(task.reason === undefined ? {} : { reason: task.reason }),
    model: task.model,
    ...(tally.intake === undefined ? {} : { intake: tally.intake }),
    read: [...tally.read],
    changes: result.changes,
    did: tally.did,
    refused: tally.refused,
    asked: tally.asked,
    spent: tally.spent,
    receipts: result.receipts,
    head: result.head,
  };
}

function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** US dollars as people write them. */
function dollars(money: number): string {
  return money === 0 ? "no money" : `${money.toFixed(money < 0.01 ? 4 : 2)} USD`;
}

const TARGET: Readonly<Record<Did["kind"], string>> = {
  imported: "of an imported server",
  peer: "to a peer",
  network: "over the network",
  command: "of a program",
  other: "",
};

/** Actions outside of the task's files, one line for each tool. */
export function didLines(did: readonly Did[]): string[] {
  return did.map(({ tool, kind, effect, calls, failed, open }) => {
    const what = `${plural(calls, kind === "command" ? "run" : "call")} ${TARGET[kind]}`.trimEnd();
    return [
      `${displayText(tool, { max: 120 })}: ${what} (${displayText(effect)})`,
      ...(failed > 0 ? [`${failed} came to an error`] : []),
      ...(open > 0 ? [`${open} with no known outcome`] : []),
    ].join(", ");
  });
}

/** Shows what was read, changed, refused, asked and spent. */
export function showClosing(screen: Screen, result: RunResult, tally: Tally): void {
  const { paint, width } = screen;
  const safe = (text: string, max = 300): string => displayText(text, { max });
  const group = (name: string, items: readonly string[], none: string): void => {
    const all = items.length === 0 ? [paint.dim(none)] : items;
    all.forEach((item, n) =>
      screen.say(`  ${paint.bold((n === 0 ? name : "").padEnd(9))} ${item}`)
    );
  };
  const room = Math.max(24, width - 14);
  screen.say("");
  // Actions elsewhere are in no list of files: beside them "nothing" would be false.
  const done = didLines(tally.did), none = done.length > 0 ? "no files" : "nothing";
  group("read", [...tally.read].map((path) => cutTo(safe(path), room)), none);
  if (done.length > 0) group("did", done.map((each) => cutTo(each, room)), "");
  group(
    "changed",
    result.changes.map((file) =>
      `${cutTo(safe(file.path), room - 20)}  ${paint.dim(`${file.kind}, ${file.state}`)}`
    ),
    none,
  );
  if (tally.remembered.length > 0) {
    group("memory", tally.remembered.map((each) => cutTo(safe(each), room)), "");
  }
  group(
    "refused",
    tally.refused.flatMap((each) => {
      const rule = each.rule === "" ? safe(each.outcome) : `by ${safe(each.rule)}`;
      const what = `${safe(each.tool)} ${safe(each.subject)}`.trimEnd();
      return columnsOf(what) + columnsOf(rule) + 2 <= room
        ? [`${paint.red(what)}  ${paint.dim(rule)}`]
        : [paint.red(cutTo(what, room)), `  ${paint.dim(cutTo(rule, room - 2))}`];
    }),
    "nothing",
  );
  if (tally.failed.length > 0) {
    group(
      "failed",
      tally.failed.map((each) => {
        const [tool, outcome, subject] = [safe(each.tool), safe(each.outcome), safe(each.subject)];
        const left = Math.max(12, room - columnsOf(tool) - columnsOf(outcome) - 3);
        const shown = subject.startsWith("/") ? cutFront(subject, left) : subject;
        return cutTo(`${tool} ${shown}  ${outcome}`, room);
      }),
      "",
    );
  }
  group(
    "asked",
    tally.asked.map((each) =>
      `${safe(each.tool)}: ${safe(each.decision)}${
        each.by === "" ? "" : paint.dim(`, by ${safe(each.by)}`)
      }`
    ),
    "nothing",
  );
  const { spent } = tally;
  group("spent", [
    `${dollars(spent.money)}: ${plural(spent.turns, "model turn")}, ` +
    `${plural(spent.calls, "call")}, ${spent.inputTokens + spent.outputTokens} tokens`,
  ], "");
}
