/** `remit` alone: a session of many turns over this folder. @module */
import { join } from "node:path";
import { z } from "zod";
import { AgentTask, EXIT, Fault, type Json, TaskId } from "../contracts/mod.ts";
import { displayText } from "../text/mod.ts";
import { cell, type Command, commandText, printLines, recordOf } from "./command.ts";
import { taskNamed } from "./conversation_name.ts";
import type { KernelLink, Keyboard } from "./hands.ts";
import { grantLines, leaseLines, toolLines } from "./held_lines.ts";
import { kernelFor } from "./kernel_for.ts";
import { keepRenewed } from "./mcp_choice.ts";
import { announce } from "./model_announcement.ts";
import { lendKeys, provideModelPrograms, readyAgain } from "./model_ready.ts";
import { mountNameOf } from "./mounts.ts";
import { flag, has, type Parsed } from "./parse_arguments.ts";
import { printAnswer } from "./run_command.ts";
import { type RunSetting, settle } from "./run_setting.ts";
import { awaitEnd, createTask, followTask, readPast, type RunningTask } from "./run_task.ts";
import { showDiff, undoLines } from "./task_commands.ts";
import { askStaged } from "./watch_task.ts";

const Last = z.object({ task: TaskId }).strict();
const SLASH = "/tools /caps /grants /diff /undo /model [REF] /exit";

interface Session {
  readonly command: Command;
  readonly link: KernelLink;
  setting: RunSetting;
  running: RunningTask | undefined;
}

function lastPath(command: Command): string {
  return join(command.places.person, "last_session.json");
}

/** The task of the name given, else of the last session. */
async function continued(command: Command, link: KernelLink): Promise<TaskId> {
  const name = flag(command.parsed, "name");
  if (name !== undefined) return await taskNamed(link, name);
  const bytes = command.hands.disk.read(lastPath(command));
  if (bytes === undefined) {
    throw new Fault("notFound", "Cannot go on: there was no session in this state");
  }
  return Last.parse(JSON.parse(new TextDecoder().decode(bytes))).task;
}

async function goOn(command: Command, link: KernelLink, setting: RunSetting): Promise<RunningTask> {
  const task = await continued(command, link);
  const state = AgentTask.parse(await link.ask("task", { task }));
  if (state.status !== "open") {
    throw new Fault("conflict", `Cannot go on with task ${task}: it is "${state.status}"`);
  }
  const past = await readPast(link, task);
  await readyAgain(command, link, past);
  command.hands.screen.say(
    command.hands.screen.paint.dim(`  goes on: ${displayText(state.objective, { max: 200 })}`),
  );
  return await followTask(command, link, task, {
    setting,
    past,
    budget: 1,
  });
}

async function turn(session: Session, text: string): Promise<number | undefined> {
  const { command, link } = session;
  if (session.running === undefined) {
    announce(command.hands.screen, session.setting.resolved.providers, {
      request: text,
      money: session.setting.limits.money ?? 1,
    });
    const task = await createTask(command, link, session.setting, {
      text,
      interactive: true,
      plan: false,
    });
    command.hands.disk.write(lastPath(command), `${JSON.stringify({ task })}\n`);
    session.running = await followTask(command, link, task, {
      setting: session.setting,
      budget: 1,
    });
  } else {
    // A message that came in meanwhile had its own turn.
    session.running.watch.forget();
    await link.ask("say", { task: session.running.id, text });
  }
  const end = await awaitEnd(command, link, session.running);
  const state = AgentTask.parse(await link.ask("task", { task: session.running.id }));
  command.hands.screen.say("");
  printAnswer(command, state.answer);
  const { reason } = session.running.tally;
  if (reason !== "" && reason !== state.answer) command.hands.screen.say(`  ${cell(reason, 500)}`);
  command.hands.screen.say("");
  if (end.exit === EXIT.interrupted) return EXIT.interrupted;
  if (end.status !== "open") return end.exit ?? EXIT.failure;
  return undefined;
}

async function slash(session: Session, line: string): Promise<"exit" | "stay"> {
  const { command, link, running } = session;
  const { screen } = command.hands;
  const [word = "", ...rest] = line.trim().split(/\s+/);
  const needTask = (): TaskId => {
    if (running === undefined) throw new Fault("notFound", "Cannot show it: nothing was asked yet");
    return running.id;
  };
  const room = screen.width - 2;
  const show = (lines: readonly string[]): void => lines.forEach((each) => screen.say(`  ${each}`));
  const ask = (op: string): Promise<Json> => link.ask(op, { task: needTask() });
  switch (word) {
    case "/exit":
    case "/quit":
      return "exit";
    case "/tools":
      show(toolLines(await ask("tools"), room));
      return "stay";
    case "/caps":
      show(leaseLines(await ask("caps"), { now: command.hands.around.now(), width: room }));
      return "stay";
    case "/grants":
      show(grantLines(await ask("grants"), room));
      return "stay";
    case "/diff":
      await showDiff(command, await askStaged(link, needTask()));
      return "stay";
    case "/undo":
      for (const each of undoLines(recordOf(await ask("undo")))) screen.say(`  ${each}`);
      return "stay";
    case "/model": {
      const [ref] = rest;
      if (ref === undefined) {
        screen.say(`  ${displayText(session.setting.model.ref, { max: 200 })}`);
        return "stay";
      }
      session.setting = await settle(withModel(command, ref), defaultsOf(command));
      await provideModelPrograms(command, session.setting.resolved, link);
      await lendKeys(link, session.setting.resolved);
      if (running === undefined) {
        screen.say("  another model, from your first words on");
        return "stay";
      }
      const { ref: to, config } = session.setting.model;
      await link.ask("model", { task: running.id, model: { ref: to, config } });
      screen.say("  another model, from its next answer on; the conversation stays");
      return "stay";
    }
    default:
      throw new Fault(
        "invalidInput",
        `Cannot do "${displayText(word, { max: 40 })}": there is ${SLASH}`,
      );
  }
}

function withModel(command: Command, ref: string): Command {
  const flags = new Map(command.parsed.flags);
  flags.set("model", [ref]);
  // A recording is of one model: what is said to another one is not in it.
  for (const name of ["record", "replay"]) flags.delete(name);
  const parsed: Parsed = { ...command.parsed, flags };
  return { ...command, parsed };
}

function defaultsOf(command: Command): Parameters<typeof settle>[1] {
  const { cwd } = command.hands.around;
  return { folder: cwd, mounts: [{ name: mountNameOf(cwd), dir: cwd, mode: "stage" }] };
}

async function converse(session: Session, keyboard: Keyboard): Promise<number> {
  const { screen } = session.command.hands;
  for (;;) {
    const line = await keyboard.line(screen.paint.bold("› "));
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
export async function sessionCommand(command: Command): Promise<number> {
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
  const setting = await settle(command, defaultsOf(command));
  const link = await kernelFor(command, setting);
  try {
    const mounts = setting.mounts.map((mount) => `${mount.name} (${mount.mode})`).join(", ");
    screen.say(`${screen.paint.bold("remit")}  ${mounts}  ${screen.paint.dim(SLASH)}`);
    const running = has(parsed, "continue") ? await goOn(command, link, setting) : undefined;
    const session: Session = { command, link, setting, running };
    const exit = await converse(session, keyboard);
    if (session.running !== undefined) {
      printLines(command, []);
      screen.say(screen.paint.dim(`  go on with: ${commandText(command, "-c")}`));
    }
    return exit;
  } finally {
    await keepRenewed(command, link, setting.mcp);
    link.close();
  }
}
