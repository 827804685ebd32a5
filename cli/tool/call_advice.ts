/** What to do next, said under the end of `tool call`: one call is a task of its own. @module */
import type { Outcome } from "../../contracts/mod.ts";
import { type Command, commandText } from "../command.ts";
import { needOf } from "./tool_needs.ts";

/** How a call ended. */
export interface CallEnd {
  readonly outcome: Outcome;
  /** Why, where it did not succeed; else empty. */
  readonly error: string;
}

/** Tools that go on from a call before them in the same task, and the one that begins. */
const FOLLOWS: readonly (readonly [name: RegExp, first: string])[] = [
  [/^browser_(?:snapshot|click|submit|post|back|close|screenshot)$/, "browser_open"],
  [/^process_(?:poll|write|signal|close)$/, "process_start"],
  [/^patch_apply$/, "file_write"],
];

/** Lines of advice; none where there is nothing to add. Nothing of a tool's own words is in them. */
export function adviceFor(
  command: Command,
  tool: string,
  end: CallEnd | undefined,
): readonly string[] {
  if (end === undefined) return [];
  const { outcome, error } = end;
  if (outcome === "ok") return afterSuccess(command, tool);
  if (outcome === "unknownTool") {
    return [
      needOf(tool) ??
        `${commandText(command, "tool list")} and ${commandText(command, "mcp list")} ` +
          "say what there is",
    ];
  }
  const first = FOLLOWS.find(([name]) => name.test(tool))?.[1];
  const misread = error.startsWith("Cannot read the arguments");
  if (first !== undefined && !misread && /^(?:executionError|invalidArguments)$/.test(outcome)) {
    return severalCalls(command, first, tool);
  }
  return /no mount ".*" \(there are: none\)$|: there is no mount$/.test(error)
    ? ["--mount NAME=DIR hands the call a folder as NAME; its files are NAME/…"]
    : [];
}

function afterSuccess(command: Command, tool: string): readonly string[] {
  if (tool === "process_start") return severalCalls(command, tool, "process_poll");
  return tool === "outbox_publish"
    ? [`${commandText(command, "outbox list")} shows it, and how to let it out`]
    : [];
}

function severalCalls(command: Command, first: string, then: string): readonly string[] {
  const code = `await remit.tool("${first}", {…}); return await remit.tool("${then}", {…})`;
  return [
    `each call from the terminal is a task of its own, and what ${first} begins ends with it;`,
    "several calls in one task are a program:",
    `  echo '${JSON.stringify({ code })}' | ${commandText(command, "tool call exec -")}`,
  ];
}
