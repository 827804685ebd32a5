/**
 * `tool call TOOL JSON`: one call of one tool, as an ordinary task of a scripted model that makes it. So gate, consent,
 * leases, receipts and exit codes are those of any other call. Issue 3.
 * @module
 */
import { EXIT, type ExitCode, Fault, type Json, Outcome, toJson } from "../../contracts/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, commandText, printJson, recordOf } from "../command.ts";
import { readSeen, type Seen, textOf } from "../audit/event_fields.ts";
import { kernelFor } from "../run/kernel_for.ts";
import { keepRenewed } from "../mcp/grant/choice.ts";
import { printAnswer, showWaiting } from "../run/run_command.ts";
import { settle } from "../run/run_setting.ts";
import { awaitEnd, createTask, followTask, gather, readPast } from "../run/run_task.ts";

const CALL = "tool-call";
const WHOLE = 10_000_000;

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

/** Two braces begin a template in a play: these stand for themselves. */
function plain(value: Json): Json {
  if (typeof value === "string") return value.replaceAll("{{", '{{ "{{" }}');
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

/** The play of a model that makes one call and says what came of it. */
export function playOf(tool: string, args: Json): string {
  return JSON.stringify({
    scenario: "one call from the terminal",
    model: {
      displayName: "nobody: a call from the terminal",
      contextTokens: WHOLE,
      outputTokens: WHOLE,
    },
    stream: { chunkChars: 65_536 },
    turns: [{ calls: [{ id: CALL, tool, args: plain(args) }] }, { say: "{{ tool.1 }}" }],
  });
}

async function argumentsOf(command: Command): Promise<Json> {
  const given = command.parsed.args[1] ?? "{}";
  const text = given === "-" ? await command.hands.readInput() : given;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Fault("invalidInput", "Cannot read the arguments: they are no JSON", { cause });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Fault(
      "invalidInput",
      'Cannot read the arguments: write an object, such as {"path":"desk/a"}',
    );
  }
  return toJson(value);
}

/** What the log says of the call: its outcome and its error; undefined when it was never decided. */
function endOf(
  past: readonly Json[],
): { readonly outcome: Outcome; readonly error: string } | undefined {
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

/** `tool call TOOL JSON [--mount …]`. `onSeen` is told of everything that the task does. */
export async function toolCall(
  command: Command,
  onSeen?: (seen: Seen) => void,
): Promise<number> {
  const { hands, parsed } = command;
  const tool = parsed.args[0] ?? "";
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(tool)) {
    throw new Fault("invalidInput", `Cannot call "${tool}": that is no tool's name`);
  }
  const args = await argumentsOf(command);
  const setting = await settle(command, {
    folder: hands.around.cwd,
    mounts: [],
    play: playOf(tool, args),
  });
  const link = await kernelFor(command, setting);
  try {
    const task = await createTask(command, link, setting, {
      text: `Call ${tool} once.`,
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
    // The runner puts the outcome and its reason on a line before what a failed call gave.
    const content = failed ? answer.split("\n").slice(1).join("\n") : answer;
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
    if (exit === EXIT.waiting) {
      if (called !== undefined) printAnswer(command, content);
      showWaiting(command, end.waiting ?? result.task.questions.at(-1), task);
      return exit;
    }
    if (called !== undefined) printAnswer(command, content);
    if (failed) {
      hands.screen.say(`${called.outcome}: ${displayText(called.error, { max: 1_000 })}`);
      if (called.outcome === "unknownTool") {
        const [tools, servers] = [
          commandText(command, "tool list"),
          commandText(command, "mcp list"),
        ];
        hands.screen.say(`  ${tools} and ${servers} say what there is`);
      }
    } else if (called === undefined && result.task.reason !== undefined) {
      hands.screen.say(displayText(result.task.reason, { max: 1_000 }));
    }
    for (const change of result.changes) {
      hands.screen.say(
        `${change.state} ${displayText(change.path, { max: 300 })} (${change.kind})`,
      );
    }
    return exit;
  } finally {
    await keepRenewed(command, link, setting.mcp);
    link.close();
  }
}
