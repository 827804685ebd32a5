/**
 * `tool call TOOL JSON`: one call of one tool, as an ordinary task of a scripted model that makes it. So gate, consent,
 * leases, receipts and exit codes are those of any other call.
 * @module
 */
import { EXIT, type ExitCode, Fault, type Json, Outcome } from "../../contracts/mod.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { type Command, printJson, recordOf } from "../command.ts";
import { readSeen, type Seen, textOf } from "../audit/event_fields.ts";
import { kernelFor } from "../run/kernel_for.ts";
import { keepRenewed } from "../mcp/registry/handover.ts";
import { printAnswer, showWaiting } from "../run/run_command.ts";
import { settle } from "../run/run_setting.ts";
import { adviceFor, type CallEnd } from "./call_advice.ts";
import { readArguments } from "./call_arguments.ts";
import { CALL, CALL_WINDOW, playOf, requestOf } from "./call_play.ts";
import { awaitEnd, createTask, followTask, gather, readPast } from "../run/run_task.ts";
import { registryOf } from "../mcp/work.ts";

/** The exit code of a command whose one call had this outcome. */
export const EXIT_OF_OUTCOME: Readonly<Record<Outcome, ExitCode>> = {
  ok: EXIT.success,
  refusedByPolicy: EXIT.refused,
  deniedByUser: EXIT.refused,
  stepUpFailed: EXIT.refused,
  executionError: EXIT.failure,
  timedOut: EXIT.upstreamFailure,
  cancelled: EXIT.interrupted,
  invalidArguments: EXIT.invalidInput,
  unknownTool: EXIT.invalidInput,
};

async function argumentsOf(command: Command): Promise<Json> {
  const given = command.parsed.args[1] ?? "{}";
  return readArguments(given === "-" ? await command.hands.readInput() : given);
}

/** What the log says of the call: its outcome and its error; undefined when it was never decided. */
function endOf(past: readonly Json[]): CallEnd | undefined {
  for (const told of past.toReversed()) {
    const seen = readSeen(told);
    if (seen?.kind !== "event" || textOf(seen.event, "call") !== CALL) continue;
    const outcome = Outcome.safeParse(textOf(seen.event, "outcome"));
    if (!outcome.success) continue;
    return {
      outcome: outcome.data,
      error: textOf(seen.event, "error") || textOf(seen.event, "why"),
    };
  }
  return undefined;
}

/** What a failed call gave beside its error: the runner puts the outcome and its reason before it. */
function contentAfter(answer: string, { outcome, error }: CallEnd): string {
  const head = `${outcome}: ${error}`;
  if (answer.startsWith(head)) return answer.slice(head.length + 1);
  return answer.split("\n").slice(1).join("\n");
}

function showError({ hands }: Command, { outcome, error }: CallEnd): void {
  const [first = "", ...rest] = error.split("\n");
  hands.screen.say(`${outcome}: ${displayText(first, { max: 1_000 })}`);
  if (rest.length === 0) return;
  for (const line of displayBlock(rest.join("\n"), { prefix: "  │ ", maxLines: 20 })) {
    hands.screen.say(line);
  }
}

/** How a call is shown. */
export interface CallShown {
  /** Is told of everything that the task does. */
  readonly onSeen?: (seen: Seen) => void;
  /** What was said to a model, in words for a person; JSON has it as it came. */
  readonly words?: (text: string) => string;
}

/** `tool call TOOL JSON [--mount …]`. */
export async function toolCall(
  command: Command,
  { onSeen, words = (text) => text }: CallShown = {},
): Promise<number> {
  const { hands, parsed } = command;
  const tool = parsed.args[0] ?? "";
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(tool)) {
    throw new Fault("invalidInput", `Cannot call "${tool}": that is no tool's name`);
  }
  const args = await argumentsOf(command);
  const settled = await settle(command, {
    folder: hands.around.cwd,
    mounts: [],
    play: playOf(tool, args),
  });
  // Nobody infers: the call and its result may be longer than a model's window.
  const setting = { ...settled, limits: { ...settled.limits, contextWindow: CALL_WINDOW } };
  const link = await kernelFor(command, setting);
  try {
    const task = await createTask(command, link, setting, {
      text: requestOf(tool),
      interactive: false,
      plan: false,
    });
    const running = await followTask(command, link, task, {
      ...{ setting, budget: 1, quiet: true },
      ...(onSeen === undefined ? {} : { onSeen }),
    });
    const end = await awaitEnd(command, link, running);
    const result = await gather(link, task, end);
    const called = endOf(await readPast(link, task));
    const exit = result.exit !== EXIT.success || called === undefined
      ? result.exit
      : EXIT_OF_OUTCOME[called.outcome];
    const answer = result.task.answer ?? "";
    const failed = called !== undefined && called.outcome !== "ok";
    const content = failed ? contentAfter(answer, called) : answer;
    if (command.json) {
      printJson(command, {
        task,
        tool,
        exit,
        ...(called === undefined ? {} : { outcome: called.outcome }),
        content: called === undefined ? "" : content,
        ...(failed ? { error: called.error } : {}),
        ...(result.task.reason === undefined ? {} : { reason: result.task.reason }),
        changes: result.changes,
        receipts: result.receipts.map((each) => recordOf(each)),
      });
      return exit;
    }
    const shown = words(content);
    if (exit === EXIT.waiting) {
      if (called !== undefined) printAnswer(command, shown);
      showWaiting(command, end.waiting ?? result.task.questions.at(-1), task);
      return exit;
    }
    if (called !== undefined) printAnswer(command, shown);
    if (failed) showError(command, { ...called, error: words(called.error) });
    else if (called === undefined && result.task.reason !== undefined) {
      hands.screen.say(displayText(result.task.reason, { max: 1_000 }));
    }
    for (const line of adviceFor(command, tool, called)) hands.screen.say(`  ${line}`);
    for (const change of result.changes) {
      hands.screen.say(
        `${change.state} ${displayText(change.path, { max: 300 })} (${change.kind})`,
      );
    }
    return exit;
  } finally {
    await keepRenewed(registryOf(command), link, setting.mcp);
    link.close();
  }
}
