/** `remit` alone: a session of many turns over this folder. @module */
import { TaskId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault, type Json } from "../../contracts/base/mod.ts";
import { AgentTask } from "../../contracts/task/mod.ts";
import { displayText } from "../../text/mod.ts";
import { cell, type Command, commandText, printLines } from "../command.ts";
import { taskNamed } from "../conversation/name.ts";
import { readSeen, textOf } from "../audit/event_fields.ts";
import type { Basic, KernelLink, Keyboard } from "../hands.ts";
import { kernelFor } from "../run/kernel_for.ts";
import { keepRenewed } from "../mcp/registry/handover.ts";
import { announce } from "../model/announcement.ts";
import { readyAgain } from "../model/ready.ts";
import { flag, has } from "../arguments/parse_arguments.ts";
import { didLines } from "../run/closing.ts";
import { printAnswer, wasShown } from "../run/run_command.ts";
import { type RunSetting, settle } from "../run/run_setting.ts";
import { checkSameFolders } from "../disk/same_folders.ts";
import { awaitEnd, createTask, followTask, readPast, type RunningTask } from "../run/run_task.ts";
import {
  defaultsOf,
  keepLast,
  lastSession,
  type Session,
  type SessionCommand,
  withModel,
} from "./session.ts";
import { slash, SLASH_WORDS } from "./slash.ts";
import { inItsPlace } from "../kernel/task_rules.ts";
import type { WatchEnd } from "../run/watch_task.ts";
import { registryOf } from "../mcp/work.ts";

/** The task of the name given, else of the last session. */
async function continued(command: Command, link: KernelLink): Promise<TaskId> {
  const name = flag(command.parsed, "name");
  if (name !== undefined) return await taskNamed(link, name);
  const last = lastSession(command);
  if (last === undefined) {
    throw new Fault("notFound", "Cannot go on: there was no session in this state");
  }
  return last.task;
}

/** A talk that goes on needs no model named anew. */
function asBefore<C extends Command>(command: C): C {
  const { parsed } = command;
  const named = ["model", "name"].some((each) => has(parsed, each));
  if (!has(parsed, "continue") || named) return command;
  const model = lastSession(command)?.model;
  return model === undefined ? command : withModel(command, model);
}

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

async function goOn(
  command: Command<Basic | "keyboard" | "mcpStore" | "models">,
  link: KernelLink,
  setting: RunSetting,
): Promise<RunningTask> {
  const task = await continued(command, link);
  const state = AgentTask.parse(await link.ask("task", { task }));
  if (state.status !== "open") {
    throw new Fault(
      "conflict",
      `Cannot go on with task ${task}: it is "${state.status}"; ${wayOn(command, state)}`,
    );
  }
  checkSameFolders(command.hands.disk, state.mounts);
  const past = await readPast(link, task);
  await readyAgain(command, link, past);
  command.hands.screen.say(
    command.hands.screen.paint.dim(`  goes on: ${displayText(state.objective, { max: 200 })}`),
  );
  const why = lastFailure(past);
  if (why !== undefined) command.hands.screen.say(`  its last turn failed: ${cell(why, 500)}`);
  return await followTask(command, link, task, {
    setting,
    past,
    budget: 1,
    answers: true,
  });
}

function sayWhatStays(command: Command, { exit, why }: NonNullable<WatchEnd["failed"]>): void {
  const { screen } = command.hands;
  const say = (line: string): void => screen.say(screen.paint.dim(`  ${line}`));
  if (exit === EXIT.notApplied) {
    return say("what is staged stays: say how to go on, or end the session and come back with -c");
  }
  say("the conversation stays: your next words try again, /model REF takes another model");
  // The provider refused the key, and a kernel that runs has the one that it was started with.
  if (!why.includes("secret set")) return;
  say(
    `with another key: /exit, "${commandText(command, "stop")}", "${commandText(command, "-c")}"`,
  );
}

/** Says of each provider once where text goes: at first, after another model was chosen, and with `-c`. */
function announceNew({ command, setting, running, announced }: Session, request: string): void {
  const { resolved, limits } = setting;
  const providers = resolved.providers.filter(({ ref }) => !announced.has(ref));
  for (const { ref } of providers) announced.add(ref);
  announce(command.hands.screen, providers, {
    ...{ request, money: limits.money ?? 1, goesOn: running !== undefined },
  });
}

async function turn(session: Session, text: string): Promise<number | undefined> {
  const { command, link } = session;
  const before = new Set(didLines(session.running?.tally.did ?? []));
  announceNew(session, text);
  if (session.running === undefined) {
    const task = await createTask(command, link, session.setting, {
      text,
      interactive: true,
      plan: session.phase === "plan",
    });
    keepLast(command, task);
    session.running = await followTask(command, link, task, {
      setting: session.setting,
      budget: 1,
      answers: true,
    });
  } else {
    // A message that came in meanwhile had its own turn.
    session.running.watch.forget();
    await link.ask("say", { task: session.running.id, text });
  }
  const end = await awaitEnd(command, link, session.running);
  const state = AgentTask.parse(await link.ask("task", { task: session.running.id }));
  command.hands.screen.say("");
  // A turn that failed leaves the answer of the turn before it.
  const failed = end.status === "failed" || end.failed !== undefined;
  const anew = !failed || state.answer !== session.said;
  if (anew && !wasShown(session.running, state.answer)) printAnswer(command, state.answer);
  session.said = state.answer;
  for (const line of didLines(session.running.tally.did).filter((each) => !before.has(each))) {
    command.hands.screen.say(`  ${command.hands.screen.paint.bold("did")}  ${line}`);
  }
  const { reason } = session.running.tally;
  if (reason !== "" && reason !== state.answer) command.hands.screen.say(`  ${cell(reason, 500)}`);
  if (end.failed !== undefined) sayWhatStays(command, end.failed);
  command.hands.screen.say("");
  if (end.exit === EXIT.interrupted) return EXIT.interrupted;
  if (end.status !== "open") return end.exit ?? EXIT.failure;
  return undefined;
}

async function converse(session: Session, keyboard: Keyboard): Promise<number> {
  const { screen } = session.command.hands;
  for (;;) {
    session.running?.idle(true);
    const line = await keyboard.line(screen.paint.bold("› "), { many: true });
    session.running?.idle(false);
    if (line === undefined) return EXIT.success;
    if (line.trim() === "") continue;
    try {
      if (line.startsWith("/")) {
        if (await slash(session, line) === "exit") return EXIT.success;
        continue;
      }
      const ended = await turn(session, line);
      if (ended !== undefined) return ended;
    } catch (error) {
      if (!(error instanceof Fault) || error.code === "gone") throw error;
      screen.say(`  ${displayText(error.message, { max: 1_000 })}`);
    }
  }
}

/** Opens the session. Throws `invalidInput` without a terminal. */
export async function sessionCommand(command: SessionCommand): Promise<number> {
  const { hands, parsed } = command;
  const { keyboard, screen } = hands;
  if (keyboard === undefined) {
    throw new Fault(
      "invalidInput",
      `Cannot open a session: there is no terminal; try "${hands.around.command} run --help"`,
    );
  }
  const kept = ["record", "replay"].find((name) => has(parsed, name));
  if (kept !== undefined && has(parsed, "continue")) {
    throw new Fault(
      "invalidInput",
      `Cannot go on with --${kept}: a recording is of a whole conversation; begin a new one`,
    );
  }
  const setting = await settle(asBefore(command), defaultsOf(command));
  let link = await kernelFor(command, setting);
  try {
    if (has(parsed, "continue")) {
      link = await inItsPlace(command, link, await continued(command, link));
    }
    const mounts = setting.mounts.map((mount) => `${mount.name} (${mount.mode})`).join(", ");
    screen.say(`${screen.paint.bold("remit")}  ${mounts}  ${screen.paint.dim(SLASH_WORDS)}`);
    const running = has(parsed, "continue") ? await goOn(command, link, setting) : undefined;
    const phase = has(parsed, "plan") ? "plan" : "work";
    if (running !== undefined && phase === "plan") {
      await link.ask("phase", { task: running.id, phase });
    }
    const session: Session = { command, link, setting, running, phase, announced: new Set() };
    const exit = await converse(session, keyboard);
    if (session.running !== undefined) {
      printLines(command, []);
      const { id, status } = AgentTask.parse(await link.ask("task", { task: session.running.id }));
      screen.say(screen.paint.dim(
        status === "open"
          ? `  go on with: ${commandText(command, "-c")}`
          : `  it has ended; see: ${commandText(command, `log ${id}`)}`,
      ));
    }
    return exit;
  } finally {
    await keepRenewed(registryOf(command), link, setting.mcp);
    link.close();
  }
}
