/** `remit` alone: a session of many turns over this folder. @module */
import { SessionId, TaskId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { AgentTask } from "../../contracts/task/mod.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { cell, type Command, commandText, printLines } from "../command.ts";
import { taskNamed } from "../conversation/name.ts";
import type { Keyboard } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { kernelFor } from "../run/kernel_for.ts";
import { keepRenewed } from "../../bridges/mcp/registry/handover.ts";
import { announce } from "../model/announcement.ts";
import { flag, has } from "../arguments/parse_arguments.ts";
import { wordWrap } from "../terminal/columns.ts";
import { didLines } from "../run/closing.ts";
import { printAnswer, wasShown } from "../run/run_command.ts";
import { settle } from "../run/run_setting.ts";
import { awaitEnd, createTask, followTask } from "../run/run_task.ts";
import {
  defaultsOf,
  keepLast,
  lastSession,
  type Session,
  type SessionCommand,
  withModel,
} from "./session.ts";
import { asSaid, outputLines, type Said, withMentions } from "./attach.ts";
import { makeComplete } from "./complete_line.ts";
import { makeEditor } from "./external_editor.ts";
import { openHistory } from "./history.ts";
import { goOn, limitsLeft } from "./go_on.ts";
import { slash, SLASHES } from "./slash.ts";
import { makeQueue, openAheadLine, queueRows } from "./typed_ahead.ts";
import { inItsPlace } from "../kernel/task_rules.ts";
import type { WatchEnd } from "../run/watch_task.ts";
import { registryOf } from "../mcp/work.ts";

/** The task with the name given, else of the last session. */
async function continued(command: Command, link: KernelLink): Promise<TaskId> {
  const name = flag(command.parsed, "name");
  if (name !== undefined) return await taskNamed(link, name);
  const last = lastSession(command);
  if (last === undefined) {
    throw new Fault("notFound", "Cannot go on: there was no session in this state");
  }
  return last.task;
}

/** Takes the last session's model for `--continue` without --model. */
function withLastModel<C extends Command>(command: C): C {
  const { parsed } = command;
  const named = ["model", "name"].some((each) => has(parsed, each));
  if (!has(parsed, "continue") || named) return command;
  const model = lastSession(command)?.model;
  return model === undefined ? command : withModel(command, model);
}

function sayWhatStays(command: Command, { exit, why }: NonNullable<WatchEnd["failed"]>): void {
  const { screen } = command.powers;
  const say = (line: string): void => screen.say(screen.paint.dim(`  ${line}`));
  if (exit === EXIT.notApplied) {
    return say("what is staged stays: say how to go on, or end the session and come back with -c");
  }
  say("the conversation stays: your next words try again, /model REF takes another model");
  // The provider refused the key, and a running kernel keeps the keys that it was started with.
  if (!why.includes("secret set")) return;
  say(
    `with another key: /exit, "${commandText(command, "stop")}", "${commandText(command, "-c")}"`,
  );
}

/** Announces each provider once, before text first goes there: at the start, with `-c`, and after a change of model. */
function announceNew({ command, setting, running, announced }: Session, request: string): void {
  const { resolved, limits } = setting;
  const providers = resolved.providers.filter(({ ref }) => !announced.has(ref));
  for (const { ref } of providers) announced.add(ref);
  announce(command.powers.screen, providers, {
    ...{ request, money: limits.money ?? 1, goesOn: running !== undefined },
  });
}

async function turn(session: Session, { text, attached }: Said): Promise<number | undefined> {
  const { command, link } = session;
  const before = new Set(didLines(session.running?.tally.did ?? []));
  announceNew(session, text);
  if (session.running === undefined) {
    const setting = { ...session.setting, limits: limitsLeft(session) };
    const task = await createTask(command, link, setting, {
      session: session.id,
      text,
      interactive: true,
      plan: session.phase === "plan",
      attached: attached !== undefined,
    });
    keepLast(command, task);
    session.running = await followTask(command, link, task, {
      setting: session.setting,
      budget: 1,
      answers: true,
    });
  } else {
    // Messages received meanwhile had turns of their own, whose ends do not count here.
    session.running.watch.forget();
    await link.ask("say", {
      ...{ task: session.running.id, text },
      ...(attached === undefined ? {} : { attached }),
    });
  }
  const end = await awaitEnd(command, link, session.running);
  const state = AgentTask.parse(await link.ask("task", { task: session.running.id }));
  command.powers.screen.say("");
  // A failed turn leaves the previous turn's answer in the task.
  const failed = end.status === "failed" || end.failed !== undefined;
  const isNew = !failed || state.answer !== session.said;
  if (isNew && !wasShown(session.running, state.answer)) printAnswer(command, state.answer);
  session.said = state.answer;
  for (const line of didLines(session.running.tally.did).filter((each) => !before.has(each))) {
    command.powers.screen.say(`  ${command.powers.screen.paint.bold("did")}  ${line}`);
  }
  const { reason } = session.running.tally;
  if (reason !== "" && reason !== state.answer) command.powers.screen.say(`  ${cell(reason, 500)}`);
  if (end.failed !== undefined) sayWhatStays(command, end.failed);
  if (end.exit === EXIT.interrupted) return EXIT.interrupted;
  if (end.status !== "open") return end.exit ?? EXIT.failure;
  return undefined;
}

/** Passes a line to a slash command, the person's own shell, or the agent. Returns an exit code to end the session. */
async function take(session: Session, line: string): Promise<number | undefined> {
  const { command, keyboard } = session;
  const { screen } = command.powers;
  try {
    if (line.startsWith("/")) {
      return await slash(session, line) === "exit" ? EXIT.success : undefined;
    }
    if (line.startsWith("!")) return await shellLine(session, line.slice(1).trim());
    const { disk, environment } = command.powers;
    const message = withMentions(line, {
      ...{ disk, environment, mounts: session.setting.mounts, screen },
    });
    return await typingAhead(session, keyboard, () => turn(session, message));
  } catch (error) {
    if (!(error instanceof Fault) || error.code === "gone") throw error;
    screen.say(`  ${displayText(error.message, { max: 1_000 })}`);
    return undefined;
  }
}

/** Runs a command in the person's own shell; the agent reads its output only after a yes. */
async function shellLine(session: Session, line: string): Promise<number | undefined> {
  const { command, keyboard } = session;
  const { screen } = command.powers;
  const run = keyboard.shell;
  if (line === "" || run === undefined) {
    screen.say("  ! COMMAND runs it in your own shell, as in another terminal: no agent runs it");
    return undefined;
  }
  screen.say(screen.paint.yellow("  ! your own shell, with your rights: no agent, no walls"));
  const result = await run(line);
  for (const each of outputLines(result.output, screen.width)) screen.say(each);
  screen.say(screen.paint.dim(`  ended with ${result.code}`));
  if (result.output.trim() === "") return undefined;
  const yes = await keyboard.line(
    "  give this output to the agent, as YELLOW? y or Enter for no › ",
  );
  if (!/^y(es)?$/i.test(yes?.trim() ?? "")) return undefined;
  return await typingAhead(session, keyboard, () => turn(session, asSaid(line, result)));
}

/** Runs a turn with a line open under it. Text entered there waits for its own turn; slash commands act at once. */
async function typingAhead(
  session: Session,
  keyboard: Keyboard,
  work: () => Promise<number | undefined>,
): Promise<number | undefined> {
  const { command, queue, history, complete } = session;
  const { screen, environment } = command.powers;
  const from = environment.now();
  const left = Promise.withResolvers<number>();
  let acting: Promise<void> = Promise.resolve();
  const act = async (text: string): Promise<void> => {
    try {
      screen.say(screen.paint.dim(`  › ${displayText(text, { max: 200 })}`));
      if (await slash(session, text, { busy: true }) === "exit") {
        screen.say("  the turn goes on without you; what it asks waits");
        left.resolve(EXIT.success);
      }
    } catch (error) {
      if (!(error instanceof Fault)) return left.reject(error);
      screen.say(`  ${displayText(error.message, { max: 1_000 })}`);
    }
    line?.redraw();
  };
  const line = openAheadLine({
    ...{ keyboard, screen, queue, complete, past: history.past, draft: session.draft },
    status: () => {
      const { inputTokens = 0, outputTokens = 0, money = 0 } = session.running?.tally.spent ?? {};
      const { ref: model } = session.setting.model;
      return { model, elapsed: environment.now() - from, inputTokens, outputTokens, money };
    },
    atOnce: (text) => {
      history.add(text);
      acting = acting.then(() => act(text));
    },
  });
  const working = work();
  try {
    return await Promise.race([working, left.promise]);
  } finally {
    // A person who left the session does not see how the turn ends.
    working.catch(() => undefined);
    session.draft = line?.close() ?? "";
    screen.say("");
  }
}

async function converse(session: Session, keyboard: Keyboard): Promise<number> {
  const { screen } = session.command.powers;
  const editor = makeEditor({ ...session.command.powers, keyboard });
  for (;;) {
    const queued = session.queue.next();
    let line = queued;
    if (queued === undefined) {
      session.running?.idle(true);
      line = await keyboard.line(screen.paint.bold("› "), {
        ...{ many: true, draft: session.draft, past: session.history.past },
        complete: session.complete,
        ...(editor === undefined ? {} : { editor }),
      });
      session.running?.idle(false);
      session.draft = "";
    } else {
      for (const row of enteredLines(queued, screen.width)) screen.say(row);
      for (const row of queueRows(session.queue, screen.width)) screen.say(screen.paint.dim(row));
    }
    if (line === undefined) return EXIT.success;
    if (line.trim() === "") continue;
    session.history.add(line);
    const ended = await take(session, line);
    if (ended === undefined) continue;
    for (const unsent of [...session.queue.texts, session.draft].filter((each) => each !== "")) {
      screen.say(`  not said: ${displayText(unsent, { max: 2_000 })}  (the arrow up has it)`);
      session.history.add(unsent);
    }
    return ended;
  }
}

/** A queued text as it would look when a person enters it. */
function enteredLines(text: string, width: number): string[] {
  const lines = displayBlock(text, { prefix: "", max: 20_000, maxLines: 40, columns: 100_000 });
  return lines.flatMap((each) => wordWrap(each, width - 2))
    .map((row, n) => `${n === 0 ? "› " : "  "}${row}`);
}

/** Opens the session. Throws `invalidInput` without a terminal. */
export async function sessionCommand(command: SessionCommand): Promise<number> {
  const { powers, parsed } = command;
  const { keyboard, screen } = powers;
  if (keyboard === undefined) {
    throw new Fault(
      "invalidInput",
      `Cannot open a session: there is no terminal; try "${powers.environment.command} run --help"`,
    );
  }
  const kept = ["record", "replay"].find((name) => has(parsed, name));
  if (kept !== undefined && has(parsed, "continue")) {
    throw new Fault(
      "invalidInput",
      `Cannot go on with --${kept}: a recording is of a whole conversation; begin a new one`,
    );
  }
  const setting = await settle(withLastModel(command), defaultsOf(command));
  let link = await kernelFor(command, setting);
  let session: Session | undefined;
  try {
    const task = has(parsed, "continue") ? await continued(command, link) : undefined;
    if (task !== undefined) link = await inItsPlace(command, link, task);
    const mounts = setting.mounts.map((mount) => `${mount.name} (${mount.mode})`).join(", ");
    screen.say(`${screen.paint.bold("remit")}  ${mounts}`);
    screen.say(
      screen.paint.dim("  Tab completes  @FILE gives a file  !COMMAND your shell  /help  /exit"),
    );
    const running = task === undefined ? undefined : await goOn(command, link, { setting, task });
    const phase = has(parsed, "plan") ? "plan" : "work";
    if (running !== undefined && phase === "plan") {
      await link.ask("phase", { task: running.id, phase });
    }
    session = {
      ...{ command, link, keyboard, setting, running, phase, announced: new Set() },
      ...{ queue: makeQueue(), history: openHistory(command), draft: "", spent: new Map() },
      id: task === undefined
        ? SessionId.parse(powers.environment.id("s"))
        : AgentTask.parse(await link.ask("task", { task })).session,
      complete: makeComplete({ ...powers, slashes: SLASHES }),
    };
    const exit = await converse(session, keyboard);
    ({ link } = session);
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
    link = session?.link ?? link;
    await keepRenewed(registryOf(command), link, setting.mcp);
    link.close();
  }
}
