/**
 * `tool call TOOL JSON`: calls a tool once, as an ordinary task of a scripted model. Gate, consent,
 * leases, receipts and exit codes are therefore those of any other call.
 * @module
 */
import { EXIT, type ExitCode, Fault, type Json } from "../../contracts/base/mod.ts";
import { Outcome } from "../../contracts/tool/mod.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { type Command, commandText, printJson, recordOf } from "../command.ts";
import { readSeen, type Seen, textOf } from "../audit/event_fields.ts";
import { kernelFor } from "../run/kernel_for.ts";
import { keepRenewed } from "../../bridges/mcp/registry/handover.ts";
import { printAnswer, showWaiting } from "../run/run_command.ts";
import { settle } from "../run/run_setting.ts";
import { awaitEnd, createTask, followTask, gather, readPast } from "../run/run_task.ts";
import { registryOf } from "../mcp/work.ts";
import { parseJson } from "../../port/mod.ts";
import { needOf } from "../../tools-wasm/kit/tool_needs.ts";
import type { Basic } from "../powers.ts";

/** The exit code of the command for the outcome of its call. */
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

async function argumentsOf(command: Command<Basic | "readInput">): Promise<Json> {
  const given = command.parsed.args[1] ?? "{}";
  return readArguments(given === "-" ? await command.powers.readInput() : given);
}

/** The call's outcome and error in the log; undefined if it was never decided. */
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

/** A failed call's content: the answer without the outcome and reason that the runner puts first. */
function contentAfter(answer: string, { outcome, error }: CallEnd): string {
  const head = `${outcome}: ${error}`;
  if (answer.startsWith(head)) return answer.slice(head.length + 1);
  return answer.split("\n").slice(1).join("\n");
}

function showError({ powers }: Command, { outcome, error }: CallEnd): void {
  const [first = "", ...rest] = error.split("\n");
  powers.screen.say(`${outcome}: ${displayText(first, { max: 1_000 })}`);
  if (rest.length === 0) return;
  for (const line of displayBlock(rest.join("\n"), { prefix: "  │ ", maxLines: 20 })) {
    powers.screen.say(line);
  }
}

/** The display of a call. */
export interface CallShown {
  /** Called for everything that the task does. */
  readonly onSeen?: (seen: Seen) => void;
  /** Turns an answer to a model into words for a person; JSON has it unchanged. */
  readonly words?: (text: string) => string;
}

/** `tool call TOOL JSON [--mount …]`. */
export async function toolCall(
  command: Command<
    Basic | "interrupts" | "keyboard" | "mcpStore" | "models" | "readInput" | "wikis"
  >,
  { onSeen, words = (text) => text }: CallShown = {},
): Promise<number> {
  const { powers, parsed } = command;
  const tool = parsed.args[0] ?? "";
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(tool)) {
    throw new Fault("invalidInput", `Cannot call "${tool}": that is no tool's name`);
  }
  const args = await argumentsOf(command);
  const settled = await settle(command, {
    folder: powers.environment.cwd,
    mounts: [],
    play: playOf(tool, args),
  });
  // Without inference, the call and its result may be longer than a model's window.
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
      powers.screen.say(displayText(result.task.reason, { max: 1_000 }));
    }
    for (const line of adviceFor(command, tool, called)) powers.screen.say(`  ${line}`);
    for (const change of result.changes) {
      powers.screen.say(
        `${change.state} ${displayText(change.path, { max: 300 })} (${change.kind})`,
      );
    }
    return exit;
  } finally {
    await keepRenewed(registryOf(command), link, setting.mcp);
    link.close();
  }
}

// The play of `tool call`: a scripted model that makes one call and reports its result.

/** The id of the one call. */
const CALL = "tool-call";

/** Tokens in the context window of the scripted model. */
const CALL_WINDOW = 10_000_000;
/** Without inference, a large call or result uses up no limit. */
const FREE = { inputTokens: 0, outputTokens: 0 };

/** The task's request; its model is told nothing else. */
function requestOf(tool: string): string {
  return `Call ${tool} once.`;
}

/** Escapes double braces, which begin a template in a play. */
function plain(value: Json): Json {
  if (typeof value === "string") return value.replaceAll("{{", '{{ "{{" }}');
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

/** The play. A plugin's request to the task's model is answered with a fault: there is no model. */
export function playOf(tool: string, args: Json): string {
  return JSON.stringify({
    scenario: "one call from the terminal",
    model: {
      displayName: "nobody: a call from the terminal",
      contextTokens: CALL_WINDOW,
      outputTokens: CALL_WINDOW,
    },
    stream: { chunkChars: 65_536 },
    turns: [
      {
        when: { user: { lacks: requestOf(tool) } },
        error: {
          code: "unavailable",
          message: "Cannot infer: a single call from the terminal has no model; " +
            "an agent that calls this tool has one (remit run -p TEXT --model NAME)",
        },
      },
      { calls: [{ id: CALL, tool, args: plain(args) }], usage: FREE },
      { say: "{{ tool.1 }}", whole: true, usage: FREE },
    ],
  });
}

// The arguments of `tool call`: an object of limited size.

/** Bytes of the arguments in messages between processes: JSON within a JSON string. */
const MAX_BYTES = 1_000_000;
/** Nested objects in a message, without those around the arguments. */
const MAX_DEPTH = 56;

function unreadable(why: string, cause?: unknown): Fault {
  return new Fault("invalidInput", `Cannot read the arguments: ${why}`, { cause });
}

/**
 * Reads the arguments of a call.
 *
 * @throws Fault `invalidInput` for anything but a JSON object, for repeated keys, and beyond the limits
 */
export function readArguments(text: string): Json {
  let value: Json;
  try {
    value = parseJson(text, { frameBytes: 8 * MAX_BYTES, depth: MAX_DEPTH });
  } catch (fault) {
    throw unreadable(whyNot(fault), fault);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw unreadable('write an object, such as {"path":"desk/a"}');
  }
  const travelling = new TextEncoder().encode(JSON.stringify(JSON.stringify(value)));
  if (travelling.length > MAX_BYTES) throw unreadable(TOO_LARGE);
  return value;
}

const TOO_LARGE = `together they are larger than a call may be (${MAX_BYTES} bytes); ` +
  "put the text into a file of a mount and name its path";

function whyNot(fault: unknown): string {
  if (!(fault instanceof Fault)) return "they are no JSON";
  if (fault.code === "tooLarge") {
    if (fault.message.includes("longer than")) return TOO_LARGE;
    return /nested/.test(fault.message)
      ? "they are nested too deeply"
      : "they hold too many values";
  }
  const { cause } = fault;
  // The engine's message holds the position.
  if (cause instanceof SyntaxError) return `they are no JSON: ${cause.message}`;
  return `they are no JSON: ${fault.message.replace(/^Cannot parse JSON: /, "")}`;
}

// Advice after `tool call`: each call is a task of its own.

/** The end of a call. */
interface CallEnd {
  readonly outcome: Outcome;
  /** The reason of a failure, else empty. */
  readonly error: string;
}

/** Tools that need an earlier call in the same task, and the tool of that call. */
const FOLLOWS: readonly (readonly [name: RegExp, first: string])[] = [
  [/^browser_(?:snapshot|click|submit|post|back|close|screenshot)$/, "browser_open"],
  [/^process_(?:poll|write|signal|close)$/, "process_start"],
  [/^patch_apply$/, "file_write"],
];

/** Lines of advice, without any words of the tool. */
function adviceFor(command: Command, tool: string, end: CallEnd | undefined): readonly string[] {
  if (end === undefined) return [];
  const { outcome, error } = end;
  if (outcome === "ok") return afterSuccess(command, tool);
  if (outcome === "unknownTool") {
    return [
      needOf(tool) ??
        `${commandText(command, "tool list")} and ${commandText(command, "mcp list")} ` +
          "say what there is",
    ];
  }
  const first = FOLLOWS.find(([name]) => name.test(tool))?.[1];
  const misread = error.startsWith("Cannot read the arguments");
  if (first !== undefined && !misread && /^(?:executionError|invalidArguments)$/.test(outcome)) {
    return severalCalls(command, first, tool);
  }
  return /no mount ".*" \(there are: none\)$|: there is no mount$/.test(error)
    ? ["--mount NAME=DIR hands the call a folder as NAME; its files are NAME/…"]
    : [];
}

function afterSuccess(command: Command, tool: string): readonly string[] {
  if (tool === "process_start") return severalCalls(command, tool, "process_poll");
  return tool === "outbox_publish"
    ? [`${commandText(command, "outbox list")} shows it, and how to let it out`]
    : [];
}

function severalCalls(command: Command, first: string, then: string): readonly string[] {
  const code = `await remit.tool("${first}", {…}); return await remit.tool("${then}", {…})`;
  return [
    `each call from the terminal is a task of its own, and what ${first} begins ends with it;`,
    "several calls in one task are a program:",
    `  echo '${JSON.stringify({ code })}' | ${commandText(command, "tool call exec -")}`,
  ];
}
