/** `remit run`: one request to its end, or the demo. @module */
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { AgentTask, isResumable } from "../../contracts/task/mod.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { wordWrap } from "../terminal/columns.ts";
import type { PreparedAnswers } from "../question/answers_file.ts";
import { didLines, resultDocument, type RunResult, showClosing } from "./closing.ts";
import { type Command, commandText, printJson, reachKernel } from "../command.ts";
import { taskNamed } from "../conversation/name.ts";
import { inItsPlace } from "../kernel/task_rules.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { kernelFor } from "./kernel_for.ts";
import { keepRenewed, lendApproved } from "../../bridges/mcp/registry/handover.ts";
import { type AnswerSchema, askingFor, awaitFitting, readSchema } from "./schema_answer.ts";
import { safeJson } from "../terminal/safe_json.ts";
import { errorLine, resultLine } from "./stream_json.ts";
import { announce } from "../model/announcement.ts";
import { foundLines } from "../model/found.ts";
import { readyAgain } from "../model/ready.ts";
import { flag, has, oneOf } from "../arguments/parse_arguments.ts";
import { type RunDefaults, type RunSetting, settle } from "./run_setting.ts";
import { checkWritable } from "../../launch/disk/output_file.ts";
import { absolute } from "../../launch/disk/places.ts";
import { checkSameFolders } from "../../launch/disk/same_folders.ts";
import {
  awaitEnd,
  createTask,
  followTask,
  gather,
  readPast,
  type RunningTask,
} from "./run_task.ts";
import { registryOf } from "../mcp/work.ts";

const DEFAULT_BUDGET = 1;
const NOTHING_PREPARED: PreparedAnswers = { take: () => undefined };

async function requestOf(command: Command<Basic | "readInput">): Promise<string | undefined> {
  const { parsed, powers } = command;
  const flagged = flag(parsed, "request");
  const positional = parsed.args[0];
  if (flagged !== undefined && positional !== undefined) {
    throw new Fault("invalidInput", "Cannot read the request: it is given twice");
  }
  const given = flagged ?? positional;
  const text = given === "-" ? await powers.readInput() : given;
  if (text !== undefined && text.trim() === "") {
    throw new Fault("invalidInput", "Cannot start an agent: the request is empty");
  }
  return text;
}

/** Prints the agent's answer to standard output as safe text, and nothing else. */
export function printAnswer(command: Command, answer: string | undefined): void {
  if (answer === undefined || answer === "") return;
  const lines = displayBlock(answer, {
    prefix: "",
    max: 1_000_000,
    maxLines: 100_000,
    columns: 1_000_000,
  });
  const { outWidth } = command.powers.screen;
  const wrapped = outWidth === undefined
    ? lines
    : lines.flatMap((line) => wordWrap(line, outWidth));
  command.powers.screen.out(`${wrapped.join("\n")}\n`);
}

/** Whether the answer is on the screen already, because it was shown while it was written. */
export function wasShown(running: Pick<RunningTask, "shown">, answer: string | undefined): boolean {
  return answer !== undefined && running.shown()?.trim() === answer.trim();
}

function showHead(command: Command, setting: RunSetting): void {
  const { screen } = command.powers;
  const { paint } = screen;
  const mounts = setting.mounts.map((mount) => `${mount.name} (${mount.mode})`).join(", ");
  const money = setting.limits.money ?? DEFAULT_BUDGET;
  screen.say(
    `${paint.bold("remit")}  ${mounts === "" ? "no folder" : mounts}` +
      paint.dim(`  ·  ${displayText(setting.model.ref, { max: 80 })}  ·  at most ${money} USD`),
  );
  screen.say("");
}

/** Shows which question waits, and the commands that answer it. */
export function showWaiting(command: Command, question: string | undefined, task: string): void {
  const { screen } = command.powers;
  const id = question ?? "ID";
  screen.say("");
  screen.say(`  ${screen.paint.yellow("waits for a person")}`);
  screen.say(`    ${commandText(command, "questions")}`);
  screen.say(`    ${commandText(command, `answer ${displayText(id)} allow`)}`);
  screen.say(`    ${commandText(command, `log ${displayText(task)}`)}`);
}

function showNext(command: Command, result: RunResult, demo: boolean): void {
  const { screen } = command.powers;
  const { paint } = screen;
  const line = (name: string, words: string): void =>
    screen.say(`  ${paint.bold(name.padEnd(9))} ${paint.cyan(commandText(command, words))}`);
  screen.say("");
  line("see", `log ${result.task.id}`);
  if (result.changes.length > 0) {
    line("", `diff ${result.task.id}`);
    line("undo", `undo ${result.task.id}`);
  }
  line("verify", "audit verify");
  screen.say(`  ${paint.bold("head".padEnd(9))} ${paint.dim(result.head)}`);
  screen.say(
    paint.dim("            kept elsewhere, it shows a log whose end was cut off: --head HEAD"),
  );
  if (demo) {
    line("your own", `run -p "…" --mount notes=DIR --model NAME`);
    line("models", "model list");
  }
}

/**
 * Follows a task to its end, prints the result, and returns the task's exit code. `demo`: also shows the next commands to
 * try; `schema`: the answer has to fit it.
 */
export async function finishFollowing(
  command: Command<Basic | "interrupts">,
  link: KernelLink,
  running: RunningTask,
  { demo = false, schema }: {
    readonly demo?: boolean;
    readonly schema?: AnswerSchema | undefined;
  } = {},
): Promise<number> {
  const { screen } = command.powers;
  const { end, value, why } = schema === undefined
    ? { end: await awaitEnd(command, link, running) }
    : await awaitFitting(command, link, { running, schema });
  const gathered = await gather(link, running.id, end);
  const result = why === undefined
    ? gathered
    : { ...gathered, exit: gathered.exit === 0 ? EXIT.failure : gathered.exit };
  screen.hint("");
  if (command.json) {
    const document = {
      ...resultDocument(result, running.tally),
      ...(value === undefined ? {} : { value }),
      ...(why === undefined ? {} : { misfit: why }),
    };
    if (running.print === undefined) printJson(command, document);
    else {
      const { status, reason } = result.task;
      if (result.exit !== 0) running.print(errorLine(status, reason ?? `the task is ${status}`));
      running.print(resultLine(document));
    }
    return result.exit;
  }
  if (result.exit === EXIT.waiting) {
    // Effects before the question stay, whatever the answer.
    for (const line of didLines(running.tally.did)) {
      screen.say(`  ${screen.paint.bold("did")}  ${line}`);
    }
    showWaiting(command, end.waiting ?? result.task.questions.at(-1), running.id);
    return result.exit;
  }
  screen.say("");
  if (value !== undefined) screen.out(`${safeJson(value, 2)}\n`);
  else if (!wasShown(running, result.task.answer)) printAnswer(command, result.task.answer);
  if (why !== undefined) {
    screen.say(
      `  Cannot give an answer that fits ${schema?.file}: ${displayText(why, { max: 500 })}`,
    );
  }
  const { reason } = running.tally;
  if (reason !== "" && reason !== result.task.answer) {
    screen.say(`  ${result.task.status}: ${displayText(reason, { max: 1_000 })}`);
  }
  if (isResumable(result.task)) {
    screen.say(`  What was done stands; to go on: remit resume ${running.id}`);
  }
  showClosing(screen, result, running.tally);
  showNext(command, result, demo);
  return result.exit;
}

const FORMATS = ["text", "json", "stream-json"] as const;

/** Runs one request to its end; returns the task's exit code. */
export async function runCommand(
  given: Command<
    | Basic
    | "gateways"
    | "interrupts"
    | "keyboard"
    | "mcpStore"
    | "models"
    | "readInput"
    | "schemas"
    | "serveSite"
    | "startPeer"
    | "wikis"
  >,
): Promise<number> {
  const { powers, parsed } = given;
  const format = oneOf(parsed, "output-format", FORMATS);
  const command = format === undefined || format === "text" ? given : { ...given, json: true };
  const request = await requestOf(command);
  if (flag(parsed, "fleet") !== undefined) {
    const { runOverFleet } = await import("../fleet/run_command.ts");
    return await runOverFleet(command, request);
  }
  const isDemo = request === undefined &&
    !["mount", "model", "replay", "record"].some((name) => has(parsed, name));
  if (request === undefined && !isDemo) {
    throw new Fault("invalidInput", "Cannot start an agent: say what to do, with -p TEXT");
  }
  if (!isDemo) {
    if (has(parsed, "story")) {
      throw new Fault("invalidInput", "Cannot play a story: it brings its own request and model");
    }
    return await runOnce(command, {
      request: request ?? "",
      folder: powers.environment.cwd,
      mounts: [],
    });
  }
  // Loaded lazily: only the demo and stories need it.
  const { prepareDemo } = await import("./demo.ts");
  const demo = await prepareDemo(command);
  try {
    return await runOnce(command, { ...demo.defaults, request: demo.request, lines: demo.lines });
  } finally {
    await demo.close();
  }
}

async function runOnce(
  command: Command<Basic | "interrupts" | "keyboard" | "mcpStore" | "models" | "schemas" | "wikis">,
  defaults: RunDefaults & { readonly request: string; readonly lines?: readonly string[] },
): Promise<number> {
  const { powers, parsed } = command;
  const file = flag(parsed, "schema");
  const schema = file === undefined ? undefined : readSchema(command, file);
  const setting = await settle(command, defaults);
  for (const line of defaults.lines ?? []) powers.screen.say(line);
  const isDemo = defaults.lines !== undefined;
  const found = isDemo && setting.config.model === undefined ? foundLines(command) : [];
  const anywhere = has(parsed, "anywhere");
  const link = await kernelFor(command, setting, !anywhere);
  try {
    const models = await found;
    for (const line of models) powers.screen.say(line);
    if (models.length > 0) powers.screen.say("");
    if (!command.json) showHead(command, setting);
    announce(powers.screen, setting.resolved.providers, {
      request: defaults.request,
      money: setting.limits.money ?? DEFAULT_BUDGET,
    });
    const task = await createTask(command, link, setting, {
      text: schema === undefined ? defaults.request : askingFor(defaults.request, schema),
      interactive: schema !== undefined,
      plan: has(parsed, "plan"),
      planned: has(parsed, "planned"),
      ...{ intake: has(parsed, "intake"), reasons: has(parsed, "reasons") },
      anywhere,
    });
    if (anywhere) return sayQueued(command, task);
    const running = await followTask(command, link, task, {
      setting,
      budget: setting.limits.money ?? DEFAULT_BUDGET,
      answers: schema === undefined,
      stream: flag(parsed, "output-format") === "stream-json",
    });
    return await finishFollowing(command, link, running, { demo: isDemo, schema });
  } finally {
    await keepRenewed(registryOf(command), link, setting.mcp);
    link.close();
  }
}

/** Says that the task is queued; it cannot be followed, as no kernel has taken it yet. */
function sayQueued(command: Command, task: RunningTask["id"]): number {
  if (command.json) printJson(command, { task, queued: true });
  else {
    command.powers.screen.say(
      `queued as ${task}: the first kernel of the fleet that has time takes it; "${
        commandText(command, "fleet tasks")
      }" shows where it stands, and its questions wait at every kernel`,
    );
  }
  return EXIT.success;
}

/** `remit resume TASK|NAME`. */
export async function resumeCommand(
  command: Command<Basic | "interrupts" | "keyboard" | "mcpStore" | "models">,
): Promise<number> {
  let link = await reachKernel(command);
  try {
    const task = await taskNamed(link, command.parsed.args[0] ?? "");
    link = await inItsPlace(command, link, task);
    return await resumeTask(command, link, task);
  } finally {
    link.close();
  }
}

/** Resumes a task and follows it to its end. */
async function resumeTask(
  command: Command<Basic | "interrupts" | "keyboard" | "mcpStore" | "models">,
  link: KernelLink,
  task: RunningTask["id"],
): Promise<number> {
  const { mounts } = AgentTask.parse(await link.ask("task", { task }));
  checkSameFolders(command.powers.disk, mounts);
  const past = await readPast(link, task);
  await readyAgain(command, link, past);
  await lendApproved(registryOf(command), link);
  const wanted = flag(command.parsed, "trace");
  const trace = wanted === undefined ? undefined : absolute(command.powers.environment, wanted);
  // Checked first: nothing may resume that cannot be followed.
  if (trace !== undefined) checkWritable(command.powers.disk, trace, "write the trace to");
  await link.ask("resume", { task });
  const running = await followTask(command, link, task, {
    setting: {
      onQuestion: command.powers.keyboard === undefined ? "queue" : "ask",
      // The task may have been started with "ask", and nobody answers here: its questions stay open.
      prepared: command.powers.keyboard === undefined ? NOTHING_PREPARED : undefined,
      trace,
    },
    past,
    budget: DEFAULT_BUDGET,
    answers: true,
  });
  return await finishFollowing(command, link, running);
}
