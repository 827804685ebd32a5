/** `conversation …`: names, forks, compares and expires conversations. @module */
import { SessionId, TaskId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault, toJson } from "../../contracts/base/mod.ts";
import type { ChatMessage } from "../../contracts/model/mod.ts";
import {
  askKernel,
  cell,
  type Command,
  ingressOf,
  printJson,
  printLines,
  recordOf,
  rowsOf,
  taskOf,
  withKernel,
} from "../command.ts";
import { messageLines, readMessages } from "./message_lines.ts";
import { conversationIn, taskNamed } from "./name.ts";
import { lendApproved } from "../../bridges/mcp/registry/handover.ts";
import { lendKeys, needsOfPast, provideModelPrograms } from "../model/ready.ts";
import { flag } from "../arguments/parse_arguments.ts";
import { finishFollowing } from "../run/run_command.ts";
import { settle } from "../run/run_setting.ts";
import { followTask, readPast } from "../run/run_task.ts";
import { tableLines } from "../terminal/table.ts";
import { SPAN_UNITS } from "../terminal/since.ts";
import { spanText } from "../terminal/span.ts";
import { registryOf } from "../mcp/work.ts";
import type { Basic } from "../powers.ts";

/** US dollars from which the trace counts down. */
const DEFAULT_BUDGET = 1;

/** `conversation list`. */
export async function conversationList(command: Command): Promise<number> {
  const answer = await askKernel(command, "conversations", null);
  if (command.json) return printJson(command, answer);
  const now = command.powers.environment.now();
  const rows = rowsOf(answer).map((row) => {
    const from = recordOf(row["from"]);
    const expires = row["expiresAt"];
    return [
      cell(row["name"]),
      cell(row["task"]),
      cell(row["turns"]),
      cell(row["status"]),
      spanText(now - Number(row["updatedAt"] ?? now)),
      typeof expires === "number" ? `in ${spanText(expires - now)}` : "never",
      from["task"] === undefined ? "" : `${cell(from["task"])}@${cell(from["turn"])}`,
    ];
  });
  const headings = ["NAME", "TASK", "TURNS", "STATUS", "AGE", "EXPIRES", "FORK OF"];
  return printLines(
    command,
    tableLines(headings, rows, command.powers.screen.width, "no conversation has a name"),
  );
}

/** `conversation name TASK NAME`. */
export async function conversationName(command: Command): Promise<number> {
  const [, name = ""] = command.parsed.args;
  const named = await askKernel(command, "conversationName", { task: taskOf(command), name });
  return command.json
    ? printJson(command, named)
    : printLines(command, [`${cell(recordOf(named)["name"])}  ${taskOf(command)}`]);
}

/** `conversation show NAME[@TURN]`. */
export async function conversationShow(command: Command): Promise<number> {
  return await withKernel(command, async (link) => {
    const wanted = conversationIn(command.parsed.args[0] ?? "");
    const found = await readMessages(link, "conversation", wanted);
    return command.json
      ? printJson(command, found)
      : printLines(command, found.messages.flatMap(messageLines));
  });
}

/** `conversation fork NAME[@TURN] [--name N] [--message TEXT]`. */
export async function conversationFork(
  command: Command<Basic | "interrupts" | "keyboard" | "mcpStore" | "models" | "wikis">,
): Promise<number> {
  return await withKernel(command, async (link) => {
    const name = flag(command.parsed, "name");
    const message = flag(command.parsed, "message");
    const from = conversationIn(command.parsed.args[0] ?? "");
    const setting = flag(command.parsed, "model") === undefined
      ? undefined
      : await settle(command, { folder: command.powers.environment.cwd, mounts: [] });
    if (message !== undefined) {
      const needs = setting?.resolved ?? needsOfPast(
        command,
        await readPast(link, await taskNamed(link, String(from["conversation"]))),
      );
      await provideModelPrograms(command, needs, link);
      await lendKeys(link, needs);
      await lendApproved(registryOf(command), link);
    }
    const answer = recordOf(
      await link.ask("conversationFork", {
        ...from,
        ...(setting === undefined ? {} : { model: toJson(setting.model) }),
        session: SessionId.parse(command.powers.environment.id("s")),
        ingress: ingressOf(command),
        ...(name === undefined ? {} : { name }),
        ...(message === undefined ? {} : { message }),
      }),
    );
    const task = TaskId.parse(answer["task"]);
    if (message !== undefined) {
      const running = await followTask(command, link, task, {
        setting: {
          onQuestion: command.powers.keyboard === undefined ? "queue" : "ask",
          prepared: undefined,
          trace: flag(command.parsed, "trace"),
        },
        budget: DEFAULT_BUDGET,
        answers: true,
      });
      return await finishFollowing(command, link, running);
    }
    return command.json
      ? printJson(command, answer)
      : printLines(command, [`${name === undefined ? "" : `${cell(name)}  `}${task}`]);
  });
}

/** The difference of two conversations: the number of equal first messages, then the rest of each. */
export function differenceOf(a: readonly ChatMessage[], b: readonly ChatMessage[]): {
  readonly same: number;
  readonly onlyA: readonly ChatMessage[];
  readonly onlyB: readonly ChatMessage[];
} {
  const text = (message: ChatMessage | undefined): string => JSON.stringify(message);
  let same = 0;
  while (same < Math.min(a.length, b.length) && text(a[same]) === text(b[same])) same += 1;
  return { same, onlyA: a.slice(same), onlyB: b.slice(same) };
}

/** `conversation compare A B`; exits with 0 when they are equal, else 1. */
export async function conversationCompare(command: Command): Promise<number> {
  return await withKernel(command, async (link) => {
    const [a = "", b = ""] = command.parsed.args;
    const first = await readMessages(link, "conversation", conversationIn(a));
    const second = await readMessages(link, "conversation", conversationIn(b));
    const { same, onlyA, onlyB } = differenceOf(first.messages, second.messages);
    const marked = (mark: string, messages: readonly ChatMessage[]): readonly string[] =>
      messages.flatMap(messageLines).map((line) => `${mark} ${line}`);
    if (command.json) printJson(command, { same, onlyA, onlyB });
    else {
      printLines(command, [
        `the first ${same} messages are the same`,
        ...marked("<", onlyA),
        ...marked(">", onlyB),
      ]);
    }
    return onlyA.length + onlyB.length === 0 ? EXIT.success : EXIT.failure;
  });
}

/** `conversation expire NAME --after TIME`. */
export async function conversationExpire(command: Command): Promise<number> {
  const [name = ""] = command.parsed.args;
  const after = flag(command.parsed, "after");
  const [, count = "", unit = ""] = /^(\d{1,6})([mhd])$/.exec(after ?? "") ?? [];
  const ms = Number(count) * (SPAN_UNITS[unit] ?? 0);
  if (after !== "never" && (count === "" || unit === "")) {
    throw new Fault(
      "invalidInput",
      "Cannot tell when it expires: add --after TIME, such as 30m, 2h, 7d, or never",
    );
  }
  const named = await askKernel(command, "conversationExpire", {
    name,
    ...(after === "never" ? {} : { afterMs: ms }),
  });
  return command.json ? printJson(command, named) : printLines(command, [
    `${cell(name)}  ${after === "never" ? "stays" : `ends in ${spanText(ms)}`}`,
  ]);
}

/** `conversation remove NAME`. */
export async function conversationRemove(command: Command): Promise<number> {
  const [name = ""] = command.parsed.args;
  await askKernel(command, "conversationRemove", { name });
  return command.json
    ? printJson(command, { removed: name })
    : printLines(command, [`${cell(name)}  removed`]);
}
