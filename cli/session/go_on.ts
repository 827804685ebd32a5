/** Going on with a conversation: with `-c`, and with `/resume`. @module */
import type { TaskId } from "../../contracts/authority/mod.ts";
import { Fault, type Json } from "../../contracts/base/mod.ts";
import { AgentTask } from "../../contracts/task/mod.ts";
import { displayText } from "../../text/mod.ts";
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
import { cutTo } from "../terminal/columns.ts";
import { pastOf } from "./past_view.ts";
import { keepLast, type Session } from "./session.ts";

/** Conversations that the picker shows. */
const PICKED = 9;
/** Tasks that they are looked for among. */
const LOOKED = 200;

/** Why the last turn of a log failed; undefined when it did not. */
function lastFailure(past: readonly Json[]): string | undefined {
  const seen = past.map(readSeen);
  const last = seen.findLast((each) => each?.kind === "event" && each.event.event === "taskStatus");
  if (last?.kind !== "event" || last.event.body["failed"] === undefined) return undefined;
  return textOf(last.event, "reason");
}

/** What a person may do with a session that is not open. */
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

/** Goes on with a task, and shows its conversation. Throws Fault `conflict` for one that is not open. */
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
  const said = await readMessages(link, "conversation", { conversation: task });
  for (const line of pastOf(command, said)) screen.say(line);
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
 * The limits of a session's next conversation: where `--budget` gives it money, what the others left of that.
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

/** Leaves the task that is open: it stays as it is, and the next words or {@link resumeTask} begin with a kernel's link anew. */
export async function leaveTask(session: Session): Promise<void> {
  const { command, setting, link, running } = session;
  if (running !== undefined) session.spent.set(running.id, running.tally.spent.money);
  session.link = await kernelFor(command, setting);
  link.close();
  session.running = undefined;
  session.said = undefined;
}

/** Goes on with another task in this session. */
export async function resumeTask(session: Session, task: TaskId): Promise<void> {
  const { command, setting } = session;
  await leaveTask(session);
  session.running = await goOn(command, session.link, { setting, task });
  keepLast(command, task);
}

/** A conversation that can be gone on with. */
export interface Resumable {
  readonly task: string;
  /** One safe line. */
  readonly line: string;
}

/** The conversations that wait for words, the newest first. */
export async function resumables(session: Session): Promise<readonly Resumable[]> {
  const { link, command } = session;
  const { screen, environment } = command.powers;
  const now = environment.now();
  const rows = rowsOf(await link.ask("tasks", { statuses: ["open"], limit: LOOKED }));
  return rows
    .filter((row) =>
      recordOf(row["ingress"])["channel"] === "terminal" && row["id"] !== session.running?.id
    )
    .toSorted((a, b) => Number(b["updatedAt"] ?? 0) - Number(a["updatedAt"] ?? 0))
    .slice(0, PICKED)
    .map((row) => {
      const age = spanText(now - Number(row["updatedAt"] ?? row["createdAt"] ?? now));
      const line = `${cell(row["id"]).padEnd(14)} ${age.padStart(6)}  ${
        cell(row["objective"], 200)
      }`;
      return { task: String(row["id"]), line: cutTo(line, screen.width - 8) };
    });
}
