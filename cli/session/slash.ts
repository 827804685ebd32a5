/** Slash commands of a session. @module */
import { Fault, type Json } from "../../contracts/base/mod.ts";
import type { Phase } from "../../contracts/task/mod.ts";
import { displayText } from "../../text/mod.ts";
import { showDiff, undoLines } from "../task/change_commands.ts";
import { commandText, recordOf } from "../command.ts";
import { grantLines, toolLines } from "../task/held_lines.ts";
import { lendKeys, provideModelPrograms } from "../model/ready.ts";
import { settle } from "../run/run_setting.ts";
import { defaultsOf, keepLast, type Session, withModel } from "./session.ts";
import { askStaged } from "../run/watch_task.ts";
import { wordWrap } from "../terminal/columns.ts";
import { nearest } from "../../text/nearest.ts";
import { MORE_SLASHES } from "./slash_more.ts";
import { show, type Slash, taskOf } from "./slash_part.ts";
import { TALK_SLASHES } from "./slash_talk.ts";

const SLASH: Readonly<Record<string, Slash>> = {
  "/tools": {
    help: "tools the agent is offered, and what each may do",
    run: showing("tools", toolLines),
  },
  "/grants": {
    help: "answers of yours that hold beyond their question",
    run: showing("grants", grantLines),
  },
  "/diff": {
    help: "what is staged or was changed",
    async run(session): Promise<void> {
      showDiff(session.command, await askStaged(session.link, taskOf(session)));
    },
  },
  "/undo": {
    help: "take its last change back",
    waits: true,
    async run(session): Promise<void> {
      const again = commandText(session.command, `undo ${taskOf(session)}`);
      show(session, undoLines(recordOf(await ask(session, "undo")), { again, files: false }));
    },
  },
  "/plan": {
    help: "from now on it may only read and propose",
    run: (session) => move(session, "plan"),
  },
  "/work": {
    help: "from now on it may stage changes again",
    run: (session) => move(session, "work"),
  },
  "/model": {
    takes: "[REF]",
    help: "which model answers, or another one from the next answer on",
    run: chooseModel,
  },
  ...MORE_SLASHES,
  ...TALK_SLASHES,
  "/exit": { help: "end the session", run: () => Promise.resolve() },
};

/** Commands that people know from similar programs. */
const ALIASES: Readonly<Record<string, string>> = {
  "/quit": "/exit",
  "/caps": "/cap",
  "/new": "/clear",
  "/reset": "/clear",
  "/continue": "/resume",
  "/permissions": "/allow",
  "/usage": "/cost",
  "/context": "/cost",
};

/** The names of all slash commands. */
export const SLASHES: readonly string[] = [...Object.keys(SLASH), "/help"];

/**
 * Runs a slash command. Throws `invalidInput` for an unknown one, `conflict` for one that cannot act during a turn.
 */
export async function slash(
  session: Session,
  line: string,
  { busy = false }: { readonly busy?: boolean } = {},
): Promise<"exit" | "stay"> {
  const [typed = "", rest] = line.trim().split(/\s+/);
  const word = Object.hasOwn(ALIASES, typed) ? ALIASES[typed] ?? typed : typed;
  if (word === "/exit") return "exit";
  if (word === "/help" || word === "/") {
    show(session, helpLines(session.command.powers.screen.width));
    return "stay";
  }
  const found = Object.hasOwn(SLASH, word) ? SLASH[word] : undefined;
  if (found === undefined) {
    const meant = nearest(word, SLASHES);
    throw new Fault(
      "invalidInput",
      `Cannot do "${displayText(word, { max: 40 })}": ${
        meant === undefined ? "" : `did you mean ${meant}? `
      }/help names what there is`,
    );
  }
  if (busy && found.waits === true) {
    throw new Fault("conflict", `Cannot do "${word}" while a turn is under way: Ctrl-C ends it`);
  }
  await found.run(session, rest);
  return "stay";
}

function helpLines(width: number): string[] {
  const keys = [
    ["Tab", "completes a command, a path, a file after @"],
    ["\\ Enter", "another row, as Shift-Enter or Alt-Enter where the terminal tells them apart"],
    ["Ctrl-R", "looks through what you said before; Ctrl-L clears the screen"],
    ["Esc, Ctrl-C", "ends what is under way; what you typed stays"],
    ["Ctrl-X Ctrl-E", "your own editor, as VISUAL or EDITOR names it"],
    ["@FILE", "gives that one file to be read"],
    ["!COMMAND", "runs in your own shell; its output is given only after your yes"],
  ];
  const rows = Object.entries(SLASH).map(([word, { takes, help }]) => [
    [word, ...(takes === undefined ? [] : [takes])].join(" "),
    help,
  ]);
  return [...rows, ...keys].flatMap(([word = "", help = ""]) =>
    wordWrap(help, width - 18).map((line, n) => `${(n === 0 ? word : "").padEnd(15)} ${line}`)
  );
}

/** A slash command that asks the kernel about the task and prints the answer; `width` in columns, `now` in ms. */
function showing(
  op: string,
  linesOf: (answer: Json, width: number, now: number) => readonly string[],
): Slash["run"] {
  return async (session) => {
    const { screen, environment } = session.command.powers;
    show(session, linesOf(await ask(session, op), screen.width - 2, environment.now()));
  };
}

function ask(session: Session, op: string): Promise<Json> {
  return session.link.ask(op, { task: taskOf(session) });
}

async function move(session: Session, phase: Extract<Phase, "plan" | "work">): Promise<void> {
  session.phase = phase;
  const { link, running } = session;
  if (running !== undefined) await link.ask("phase", { task: running.id, phase });
  show(session, [phase === "plan" ? "it plans: it may read, and change nothing" : "it works"]);
}

async function chooseModel(session: Session, ref: string | undefined): Promise<void> {
  const { link, running } = session;
  if (ref === undefined) {
    show(session, [displayText(session.setting.model.ref, { max: 200 })]);
    return;
  }
  const chosen = withModel(session.command, ref);
  session.setting = await settle(chosen, defaultsOf(session.command));
  await provideModelPrograms(session.command, session.setting.resolved, link);
  await lendKeys(link, session.setting.resolved);
  session.command = chosen;
  if (running === undefined) {
    show(session, ["another model, from your first words on"]);
    return;
  }
  const { ref: to, config } = session.setting.model;
  await link.ask("model", { task: running.id, model: { ref: to, config } });
  keepLast(chosen, running.id);
  show(session, ["another model, from its next answer on; the conversation stays"]);
}
