/** Shows the past of a resumed conversation: the person's words, the answers, the calls. @module */
import type { ChatMessage } from "../../contracts/model/mod.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { commandText } from "../command.ts";
import type { Command } from "../command.ts";
import { makeAnswerView } from "../terminal/answer_view.ts";
import { cutTo, wordWrap } from "../terminal/columns.ts";

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
export function pastOf(
  command: Command,
  { task, messages }: { readonly task: string; readonly messages: readonly ChatMessage[] },
): string[] {
  const { width, paint } = command.powers.screen;
  return pastLines(messages, {
    ...{ width, paint },
    earlier: commandText(command, `conversation show ${task}`),
  });
}
