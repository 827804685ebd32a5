/** Resumes a conversation, by `-c` or `/resume`. @module */
import type { TaskId } from "../../contracts/authority/mod.ts";
import { Fault, type Json } from "../../contracts/base/mod.ts";
import { AgentTask } from "../../contracts/task/mod.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { readSeen, textOf } from "../audit/event_fields.ts";
import { cell, type Command, commandText, recordOf, rowsOf } from "../command.ts";
import { readMessages } from "../conversation/message_lines.ts";
import { checkSameFolders } from "../../launch/disk/same_folders.ts";
import { has } from "../arguments/parse_arguments.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { readyAgain } from "../model/ready.ts";
import { kernelFor } from "../run/kernel_for.ts";
import type { RunSetting } from "../run/run_setting.ts";
import { followTask, readPast, type RunningTask } from "../run/run_task.ts";
import { spanText } from "../terminal/span.ts";
import { cutTo, wordWrap } from "../terminal/columns.ts";
import { keepLast, type Session } from "./session.ts";
import type { ChatMessage } from "../../contracts/model/mod.ts";
import { makeAnswerView } from "../terminal/answer_view.ts";

/** Conversations offered to choose from. */
const MAX_OFFERED = 9;
/** Open tasks that are searched for conversations. */
const MAX_SEARCHED = 200;

/** Why the last turn failed, by the log; undefined when it did not. */
function lastFailure(past: readonly Json[]): string | undefined {
  const seen = past.map(readSeen);
  const last = seen.findLast((each) => each?.kind === "event" && each.event.event === "taskStatus");
  if (last?.kind !== "event" || last.event.body["failed"] === undefined) return undefined;
  return textOf(last.event, "reason");
}

/** The commands that help with a session that is not open. */
function wayOn(command: Command, { id, status }: AgentTask): string {
  const word = (words: string): string => `"${commandText(command, words).trim()}"`;
  switch (status) {
    case "needsApproval":
    case "reviewing":
      return `${word("questions")} shows what it waits for, ${word(`resume ${id}`)} asks you here`;
    case "blocked":
      return `${word("ps")} names its process, ${word("kill PID CONT")} lets it go on`;
    default:
      return `${word(`log ${id}`)} says why, ${word("")} begins anew`;
  }
}

/** Resumes a task, and shows its conversation. Throws Fault `conflict` for one that is not open. */
export async function goOn(
  command: Command<Basic | "keyboard" | "mcpStore" | "models">,
  link: KernelLink,
  { setting, task }: { readonly setting: RunSetting; readonly task: TaskId },
): Promise<RunningTask> {
  const state = AgentTask.parse(await link.ask("task", { task }));
  if (state.status !== "open") {
    throw new Fault(
      "conflict",
      `Cannot go on with task ${task}: it is "${state.status}"; ${wayOn(command, state)}`,
    );
  }
  checkSameFolders(command.powers.disk, state.mounts);
  const past = await readPast(link, task);
  await readyAgain(command, link, past);
  const { screen } = command.powers;
  screen.say(screen.paint.dim(`  goes on: ${displayText(state.objective, { max: 200 })}`));
  const messages = await readMessages(link, "conversation", { conversation: task });
  for (const line of pastOf(command, messages)) screen.say(line);
  const why = lastFailure(past);
  if (why !== undefined) command.powers.screen.say(`  its last turn failed: ${cell(why, 500)}`);
  return await followTask(command, link, task, {
    setting,
    past,
    budget: 1,
    answers: true,
  });
}

/**
 * The limits of a session's next conversation: of the money that `--budget` gives, what the earlier ones left.
 * @throws Fault `budgetExhausted` where they left nothing
 */
export function limitsLeft(
  { command, setting: { limits }, spent }: Pick<Session, "command" | "setting" | "spent">,
): RunSetting["limits"] {
  if (!has(command.parsed, "budget") || limits.money === undefined) return limits;
  const money = [...spent.values()].reduce((left, each) => left - each, limits.money);
  if (money > 0) return { ...limits, money };
  throw new Fault(
    "budgetExhausted",
    `Cannot begin another conversation: the ${limits.money} USD of this session are used up; ` +
      "end it with /exit, and begin another one with a larger --budget",
  );
}

/** Leaves the current task as it is, and connects anew for the next one. */
export async function leaveTask(session: Session): Promise<void> {
  const { command, setting, link, running } = session;
  if (running !== undefined) session.spent.set(running.id, running.tally.spent.money);
  session.link = await kernelFor(command, setting);
  link.close();
  session.running = undefined;
  session.said = undefined;
}

/** Switches this session to another task. */
export async function resumeTask(session: Session, task: TaskId): Promise<void> {
  const { command, setting } = session;
  await leaveTask(session);
  session.running = await goOn(command, session.link, { setting, task });
  keepLast(command, task);
}

/** The conversations that wait for words, the newest first. */
export async function resumables(session: Session): Promise<
  readonly {
    readonly task: string;
    /** One safe line. */
    readonly line: string;
  }[]
> {
  const { link, command } = session;
  const { screen, environment } = command.powers;
  const now = environment.now();
  const rows = rowsOf(await link.ask("tasks", { statuses: ["open"], limit: MAX_SEARCHED }));
  return rows
    .filter((row) =>
      recordOf(row["ingress"])["channel"] === "terminal" && row["id"] !== session.running?.id
    )
    .toSorted((a, b) => Number(b["updatedAt"] ?? 0) - Number(a["updatedAt"] ?? 0))
    .slice(0, MAX_OFFERED)
    .map((row) => {
      const age = spanText(now - Number(row["updatedAt"] ?? row["createdAt"] ?? now));
      const line = `${cell(row["id"]).padEnd(14)} ${age.padStart(6)}  ${
        cell(row["objective"], 200)
      }`;
      return { task: String(row["id"]), line: cutTo(line, screen.width - 8) };
    });
}

/** Turns that are shown, from the newest back. */
const MAX_TURNS = 8;

/** The lines of the last turns. Safe text. */
export function pastLines(
  messages: readonly ChatMessage[],
  { width, paint, earlier }: {
    readonly width: number;
    readonly paint: Command["powers"]["screen"]["paint"];
    /** The command that shows the whole conversation. */
    readonly earlier: string;
  },
): string[] {
  const starts = messages.flatMap((each, n) => each.role === "user" ? [n] : []);
  const from = starts.at(-MAX_TURNS) ?? 0;
  const lines = from > 0 ? [paint.dim(`  … ${from} earlier messages: ${earlier}`)] : [];
  for (const { role, content, toolCalls = [] } of messages.slice(from)) {
    if (role === "user") {
      const text = displayBlock(content, {
        prefix: "",
        max: 20_000,
        maxLines: 40,
        columns: 100_000,
      });
      const rows = text.flatMap((line) => wordWrap(line, width - 2));
      lines.push("", ...rows.map((row, n) => `${paint.bold(n === 0 ? "› " : "  ")}${row}`));
    }
    if (role !== "assistant") continue;
    if (content.trim() !== "") {
      const view = makeAnswerView({ paint, width });
      lines.push("", ...(view.push(content) + view.end()).trimEnd().split("\n"));
    }
    for (const { name } of toolCalls) {
      lines.push(paint.dim(cutTo(`  ✓ ${displayText(name, { max: 64 })}`, width)));
    }
  }
  return lines;
}

/** {@link pastLines} for a task, with this command's screen. */
function pastOf(
  command: Command,
  { task, messages }: { readonly task: string; readonly messages: readonly ChatMessage[] },
): string[] {
  const { width, paint } = command.powers.screen;
  return pastLines(messages, {
    ...{ width, paint },
    earlier: commandText(command, `conversation show ${task}`),
  });
}
