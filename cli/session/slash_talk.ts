/** Slash commands over the conversation itself: cost, past, copy, queue. @module */
import { join } from "node:path";
import { TaskId } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { ChatMessage } from "../../contracts/model/mod.ts";
import { displayText } from "../../text/mod.ts";
import { commandText, rowsOf } from "../command.ts";
import { readMessages } from "../conversation/message_lines.ts";
import { absolute } from "../../launch/disk/places.ts";
import { budgetStandings, standingLine } from "../audit/standings.ts";
import { usdText } from "../model/announcement.ts";
import { leaveTask, resumables, resumeTask } from "./go_on.ts";
import type { Session } from "./session.ts";
import { show, type Slash, taskOf } from "./slash_part.ts";
import { queueRows } from "./typed_ahead.ts";

/** The slash commands over the conversation. */
export const TALK_SLASHES: Readonly<Record<string, Slash>> = {
  "/resume": {
    takes: "[TASK]",
    help: "another conversation, from a list or by its task",
    waits: true,
    run: resume,
  },
  "/clear": {
    help: "begin a new conversation; this one stays, and /resume comes back to it",
    waits: true,
    async run(session): Promise<void> {
      const { running } = session;
      await leaveTask(session);
      show(session, [
        running === undefined
          ? "a new conversation"
          : `a new conversation; "/resume ${running.id}" comes back to the last one`,
      ]);
    },
  },
  "/compact": {
    help: "older turns give way to a summary before its next answer, if they fill the window",
    async run(session): Promise<void> {
      const task = taskOf(session);
      const root = rowsOf(await session.link.ask("ps", null))
        .find((row) => row["task"] === task && row["ppid"] === null);
      if (root === undefined) {
        throw new Fault("conflict", "Cannot make room: its process starts with your next words");
      }
      const { pid = null } = root;
      await session.link.ask("kill", { pid, signal: "SIGCTXPRESSURE" });
      show(session, [
        "before its next answer older turns give way, as far as they fill more than 60 % of the",
        `model's window; "${commandText(session.command, `ctx list ${task}`)}" shows what did`,
      ]);
    },
  },
  "/cost": {
    help: "tokens and money of this conversation",
    async run(session): Promise<void> {
      const { running, link, command, id, spent: before } = session;
      const spent = running?.tally.spent, now = command.powers.environment.now();
      const own = (await budgetStandings(link)).filter(({ per, name }) =>
        per === "session" && name.endsWith(`(session ${id})`)
      );
      const left = [...before].filter(([task]) => task !== running?.id)
        .reduce((sum, [, money]) => sum + money, 0);
      show(session, [
        ...(spent === undefined ? ["nothing was asked yet"] : [
          `${spent.inputTokens} tokens in, ${spent.outputTokens} out, ${usdText(spent.money)} USD`,
          `${spent.turns} inferences, ${spent.calls} calls; it ends at ${
            session.setting.limits.money ?? 1
          } USD`,
        ]),
        ...(left === 0 ? [] : [`${usdText(left)} USD in other conversations of this session`]),
        ...own.map((each) => standingLine(each, now)),
      ]);
    },
  },
  "/copy": {
    help: "its last answer to the clipboard, where the terminal allows that",
    run(session): Promise<void> {
      const { said, keyboard } = session;
      if (said === undefined) throw new Fault("notFound", "Cannot copy an answer: there is none");
      // Control characters go, except line ends: a later paste must not be read as keys.
      // deno-lint-ignore no-control-regex -- the pattern removes control characters
      keyboard.copy?.(said.replaceAll(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, ""));
      show(session, [`${said.length} characters handed to the terminal's clipboard`]);
      return Promise.resolve();
    },
  },
  "/export": {
    takes: "[FILE]",
    help: "the conversation as Markdown, to a new file",
    run: exportTalk,
  },
  "/queue": {
    help: "what you typed ahead; the arrow up takes the last one back",
    run(session): Promise<void> {
      const { queue, command } = session;
      const rows = queueRows(queue, command.powers.screen.width);
      show(session, rows.length === 0 ? ["nothing is queued"] : rows.map((row) => row.trimStart()));
      return Promise.resolve();
    },
  },
  "/drop": {
    takes: "N",
    help: "take one of them out",
    run(session, word): Promise<void> {
      const dropped = session.queue.drop(Number(word ?? ""));
      session.history.add(dropped);
      show(session, [`taken out: ${displayText(dropped, { max: 200 })}`]);
      return Promise.resolve();
    },
  },
};

async function resume(session: Session, word: string | undefined): Promise<void> {
  if (word !== undefined) {
    const task = TaskId.safeParse(word);
    if (!task.success) {
      throw new Fault("invalidInput", 'Cannot go on: say "/resume" for a list, or a task\'s id');
    }
    return await resumeTask(session, task.data);
  }
  const found = await resumables(session);
  if (found.length === 0) return show(session, ["no other conversation waits for words"]);
  show(session, found.map(({ line }, n) => `${n + 1}  ${line}`));
  const typed = await session.keyboard.line("  number, or Enter for none › ");
  const chosen = found[Number(typed?.trim() || "0") - 1];
  if (chosen === undefined) return show(session, ["the conversation stays as it was"]);
  await resumeTask(session, TaskId.parse(chosen.task));
}

/** A conversation as Markdown: requests and answers in full, calls by name. */
function markdownOf(messages: readonly ChatMessage[]): string {
  return messages.flatMap(({ role, content, toolCalls = [], toolName }) => {
    if (role === "system") return [];
    if (role === "tool") return [`*${toolName ?? "a tool"} answered*`];
    const calls = toolCalls.map(({ name }) => `*calls ${name}*`);
    const text = content.trim();
    return [
      ...(text === "" ? [] : [`## ${role === "user" ? "Person" : "Agent"}\n\n${text}`]),
      ...calls,
    ];
  }).join("\n\n") + "\n";
}

async function exportTalk(session: Session, word: string | undefined): Promise<void> {
  const { link, command } = session;
  const { disk, environment } = command.powers;
  const task = taskOf(session);
  const path = absolute(environment, word ?? join(environment.cwd, `conversation-${task}.md`));
  if (disk.stat(path) !== undefined) {
    throw new Fault(
      "alreadyExists",
      `Cannot export to "${displayText(path)}": it is there already; name another FILE`,
    );
  }
  const { messages } = await readMessages(link, "conversation", { conversation: task });
  disk.write(path, markdownOf(messages), { fresh: true });
  show(session, [
    displayText(path),
    `all of it with colours: ${commandText(command, `conversation show ${task}`)}`,
  ]);
}
