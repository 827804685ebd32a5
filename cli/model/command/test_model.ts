/**
 * `model test NAME`: checks whether a model can drive the loop, with an ordinary task that has one
 * read-only tool over a new folder.
 * @module
 */
import { join } from "node:path";
import { ToolName } from "../../../contracts/authority/mod.ts";
import { EXIT, type Json } from "../../../contracts/base/mod.ts";
import { Outcome } from "../../../contracts/tool/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, commandText, printJson, printLines } from "../../command.ts";
import { numberOf, readSeen, type Seen, subjectOf, textOf } from "../../audit/event_fields.ts";
import { makeCallJoin } from "../../audit/join_calls.ts";
import { kernelFor } from "../../run/kernel_for.ts";
import { announce } from "../announcement.ts";
import { type RunSetting, settle } from "../../run/run_setting.ts";
import { readingWords } from "../../run/live_view.ts";
import { awaitEnd, createTask, followTask, gather, readPast } from "../../run/run_task.ts";
import type { Basic } from "../../powers.ts";

const MOUNT = "check";
const FILE = "note.txt";
const TOOL = ToolName.parse("file_read");
const REQUEST =
  `Read the file ${MOUNT}/${FILE} with the tool ${TOOL}. It holds one code word. Answer with that ` +
  "code word and nothing else.";
const MONEY = 0.1;

/** The result of the check. */
export interface ModelTest {
  readonly answered: boolean;
  /** The tool was called with arguments that fit. */
  readonly called: boolean;
  /** The answer holds the word that only the tool could give. */
  readonly used: boolean;
  /** Calls that did not fit their schema, or named no tool. */
  readonly invalid: number;
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly money: number;
}

/** Judges the check by the task's log; `word` is the code word. */
function judgeTest(
  past: readonly Json[],
  { answer, word }: { readonly answer: string; readonly word: string },
): ModelTest {
  let [called, invalid, requests, inputTokens, outputTokens, money] = [false, 0, 0, 0, 0, 0];
  const join = makeCallJoin();
  for (const told of past) {
    const seen = readSeen(told);
    if (seen?.kind !== "event") continue;
    const event = join(seen.event);
    if (event.event === "inferred") {
      requests += 1;
      inputTokens += numberOf(event, "inputTokens");
      outputTokens += numberOf(event, "outputTokens");
      money += numberOf(event, "money");
      continue;
    }
    const outcome = Outcome.safeParse(textOf(event, "outcome"));
    if (!outcome.success) continue;
    if (outcome.data === "invalidArguments" || outcome.data === "unknownTool") invalid += 1;
    const right = textOf(event, "tool") === TOOL && subjectOf(event) === `${MOUNT}/${FILE}`;
    if (right && outcome.data === "ok") called = true;
  }
  const used = answer.toLowerCase().includes(word);
  return {
    answered: answer.trim() !== "",
    ...{ called, used, invalid, requests, inputTokens, outputTokens, money },
  };
}

/** Measures how fast a model reads and writes. */
interface Rates {
  take(seen: Seen): void;
  now(): Pick<
    Parameters<typeof testLines>[1],
    "firstTokenMs" | "inputPerSecond" | "outputPerSecond"
  >;
}

function makeRates(now: () => number): Rates {
  const began = now();
  let first: number | undefined;
  /** Of the current request: its last report of reading, and the time of its first text. */
  let from: { readonly done: number; readonly at: number } | undefined;
  let writing: number | undefined;
  const [read, written] = [{ tokens: 0, ms: 0 }, { tokens: 0, ms: 0 }];
  const rate = ({ tokens, ms }: typeof read): number | undefined =>
    tokens === 0 || ms === 0 ? undefined : Math.round(tokens / ms * 10_000) / 10;
  return {
    take(seen) {
      const at = now();
      if (seen.kind === "reading") {
        if (from !== undefined && seen.done > from.done) {
          read.tokens += seen.done - from.done;
          read.ms += at - from.at;
        }
        from = { done: seen.done, at };
        if (seen.done === seen.total) writing = at;
      } else if (seen.kind === "chunk") {
        first ??= at - began;
        writing ??= at;
      } else if (seen.kind === "event" && seen.event.event === "inferred") {
        if (writing !== undefined) {
          written.tokens += numberOf(seen.event, "outputTokens");
          written.ms += at - writing;
        }
        [from, writing] = [undefined, undefined];
      }
    },
    now() {
      const [input, output] = [rate(read), rate(written)];
      return {
        ...(first === undefined ? {} : { firstTokenMs: first }),
        ...(input === undefined ? {} : { inputPerSecond: input }),
        ...(output === undefined ? {} : { outputPerSecond: output }),
      };
    },
  };
}

function rateLines(
  { inputPerSecond: read, outputPerSecond: written }: ReturnType<Rates["now"]>,
): readonly string[] {
  const said = [
    ...(read === undefined ? [] : [`reads ${read} tokens/s`]),
    ...(written === undefined ? [] : [`writes ${written} tokens/s`]),
  ];
  return said.length === 0 ? [] : [`  ${said.join(", ")}`];
}

/** The setting of the check: one mount, one tool, small limits, no questions. */
async function settingOf(
  command: Command<Basic | "keyboard" | "mcpStore" | "models" | "wikis">,
  folder: string,
): Promise<RunSetting> {
  const [name] = command.parsed.args;
  const flags = new Map(command.parsed.flags);
  if (name !== undefined) flags.set("model", [name]);
  const setting = await settle({ ...command, parsed: { ...command.parsed, flags } }, {
    folder: command.powers.environment.cwd,
    mounts: [{ name: MOUNT, dir: folder, mode: "ro" }],
  });
  return {
    ...setting,
    mounts: setting.mounts.filter((mount) => mount.name === MOUNT),
    onQuestion: "deny",
    prepared: undefined,
    instructions: [],
    limits: { ...setting.limits, iterations: 6, toolCalls: 6, money: MONEY },
    agent: {
      name: "model-check",
      labels: {},
      persona: "You do exactly what is asked, with the tool that you have.",
      mounts: [MOUNT],
      capabilities: [{ tool: TOOL }],
      limits: {},
      env: {},
    },
  };
}

/** `model test`. */
export async function modelTest(
  command: Command<Basic | "interrupts" | "keyboard" | "mcpStore" | "models" | "wikis">,
): Promise<number> {
  const { powers } = command;
  const folder = powers.disk.temporary("remit-model-test-");
  const word = powers.environment.id("k");
  powers.disk.write(join(folder, FILE), `The code word is ${word}.\n`, { mode: 0o600 });
  try {
    const setting = await settingOf(command, folder);
    const link = await kernelFor(command, setting);
    // Ctrl-C also works while the model is being opened: otherwise it would keep a core busy.
    const gone = new AbortController();
    const stop = powers.interrupts.listen(() => gone.abort());
    try {
      announce(powers.screen, setting.resolved.providers, { request: REQUEST, money: MONEY });
      powers.screen.hint(`  asking ${displayText(setting.model.ref, { max: 60 })} …`);
      const before = powers.environment.now();
      const rates = makeRates(powers.environment.now);
      const onSeen = (seen: Seen): void => {
        rates.take(seen);
        if (seen.kind === "reading") powers.screen.hint(readingWords(seen));
      };
      const task = await createTask(command, link, setting, {
        text: REQUEST,
        interactive: false,
        plan: false,
      });
      const end = (): void => void link.ask("interrupt", { task, second: true }).catch(() => {});
      if (gone.signal.aborted) end();
      else gone.signal.addEventListener("abort", end, { once: true });
      const running = await followTask(command, link, task, {
        ...{ setting, onSeen, budget: MONEY, quiet: true },
      });
      const result = await gather(link, task, await awaitEnd(command, link, running));
      powers.screen.hint("");
      const test = judgeTest(await readPast(link, task), {
        answer: result.task.answer ?? "",
        word,
      });
      const ms = powers.environment.now() - before;
      const drives = result.exit === EXIT.success && test.called && test.used;
      const { ref } = setting.model;
      const reason = result.task.reason;
      const report = { model: ref, drives, ...test, ms, ...rates.now(), task, reason };
      if (command.json) printJson(command, report);
      else printLines(command, testLines(command, report));
      if (drives) return EXIT.success;
      return result.exit === EXIT.success ? EXIT.failure : result.exit;
    } finally {
      stop();
      link.close();
    }
  } finally {
    powers.disk.remove(folder);
  }
}

function testLines(
  command: Command,
  report: ModelTest & {
    readonly model: string;
    readonly drives: boolean;
    readonly ms: number;
    readonly firstTokenMs?: number;
    readonly inputPerSecond?: number;
    readonly outputPerSecond?: number;
    readonly task: string;
    readonly reason: string | undefined;
  },
): readonly string[] {
  const { paint } = command.powers.screen;
  const line = (ok: boolean, text: string): string =>
    `  ${ok ? paint.green("✓") : paint.red("✗")} ${text}`;
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
  const { invalid, firstTokenMs: first } = report;
  return [
    paint.bold(displayText(report.model, { max: 200 })),
    line(report.answered, report.answered ? "it answers" : "it gave no answer"),
    line(
      report.called,
      report.called
        ? `it calls a tool with arguments that fit${
          invalid === 0 ? "" : `, after ${invalid} that did not`
        }`
        : invalid > 0
        ? `its ${invalid === 1 ? "call" : `${invalid} calls`} did not fit the tool`
        : "it did not call the tool",
    ),
    line(report.used, report.used ? "it uses the result" : "its answer does not use the result"),
    `  ${report.requests} ${
      report.requests === 1 ? "request" : "requests"
    }, ${report.inputTokens} tokens in, ${report.outputTokens} out, ${seconds(report.ms)}${
      first === undefined ? "" : `, first text after ${seconds(first)}`
    }, ${report.money.toFixed(4)} USD`,
    ...rateLines(report),
    ...(report.reason === undefined ? [] : [`  ${displayText(report.reason, { max: 500 })}`]),
    report.drives
      ? paint.green("It can drive the loop.")
      : `${paint.red("It cannot drive the loop")}: ${
        report.called || report.invalid > 0 || !report.answered
          ? "see"
          : "a model for tools is needed, or a dialect in remit.yaml; see"
      } "${commandText(command, `log ${report.task}`)}"`,
  ];
}
