/** Words for events of imported servers, whose texts are untrusted. @module */
import { numberOf, type SeenEvent, textOf } from "../audit/event_fields.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { McpServerName } from "../../contracts/exchange/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { Command } from "../command.ts";
import { lockOf } from "./work.ts";
import type { Basic } from "../powers.ts";

/** What a server did, in words; `mark` is the severity. */
interface McpHappening {
  readonly mark: "refused" | "warning" | "quiet";
  readonly words: string;
  /** A path that follows the words; shortened at its start where space is short. */
  readonly path?: string;
}

const refused = (words: string): McpHappening => ({ mark: "refused", words });
const warning = (words: string): McpHappening => ({ mark: "warning", words });
const quiet = (words: string): McpHappening => ({ mark: "quiet", words });

function accessOf(event: SeenEvent): McpHappening {
  const permission = textOf(event, "permission");
  const value = textOf(event, "value");
  const count = numberOf(event, "times");
  const times = count > 1 ? ` ${count} times` : "";
  const allowed = event.body["allowed"] !== false;
  const did = `${allowed ? "did" : "tried to"} ${permission}${times}`;
  const path = value === "" ? "everything" : value;
  return { mark: allowed ? "quiet" : "refused", words: did, path };
}

/** Words for an event of kind `mcp`; undefined for other events. */
export function mcpHappening(event: SeenEvent): McpHappening | undefined {
  if (event.event !== "mcp") return undefined;
  const what = textOf(event, "what");
  const text = textOf(event, "text");
  const tool = textOf(event, "tool");
  const named = (words: string, more: string): string => more === "" ? words : `${words}: ${more}`;
  switch (what) {
    case "access":
      return accessOf(event);
    case "proxied": {
      const host = textOf(event, "host");
      return event.body["ok"] === false
        ? refused(named(`tried to reach ${host}`, textOf(event, "why") || text))
        : quiet(`reaches ${host}`);
    }
    case "suspended": {
      const name = tool === "" ? "a tool" : tool;
      return refused(
        textOf(event, "why") === "missing"
          ? `${name} is no longer offered, and is suspended`
          : `${name} changed since it was reviewed, and is suspended`,
      );
    }
    // No warning: a server offers unapproved tools at each start, and no model is told.
    case "changed":
      return quiet(named("says that it changed", tool || text));
    case "elicit":
      return warning(named("asked you", text));
    case "sample":
      return warning(named("asked for the model", text));
    case "odd":
      return warning(named("broke the protocol", text || `${numberOf(event, "dropped")} times`));
    case "errors":
      return quiet(named("printed", text.replaceAll(/\s*\n\s*/g, " ").trim()));
    case "ended":
      return quiet(named("ended", (text || textOf(event, "why")).replace(/^Cannot go on: /, "")));
    default:
      return quiet(named(what, tool || text));
  }
}

/** An event in a line: `files tried to read /etc/passwd`. Empty for an event of another kind. */
export function mcpWords(event: SeenEvent): string {
  const happened = mcpHappening(event);
  if (happened === undefined) return "";
  const { words, path = "" } = happened;
  return [textOf(event, "server"), words, path].filter((each) => each !== "").join(" ");
}

const WHY: Readonly<Record<string, string>> = {
  missing: "its server does not offer it any more",
  changed: "it changed since it was reviewed",
};

/** Marks a suspended tool in remit.lock. Prints faults: the kernel suspends it in any case. */
export function noteSuspension(command: Command<Basic | "mcpStore">, event: SeenEvent): void {
  if (event.event !== "mcp" || textOf(event, "what") !== "suspended") return;
  const tool = textOf(event, "tool");
  const name = McpServerName.safeParse(textOf(event, "server"));
  if (tool === "" || !name.success) return;
  const why = WHY[textOf(event, "why")] ?? "it is another than was reviewed";
  try {
    const lock = lockOf(command);
    const isPinned = lock.find(name.data)?.reviewed.some((each) =>
      each.tool.tool === tool && each.suspended === undefined
    );
    if (isPinned !== true) return;
    lock.change(name.data, (server) => ({
      ...server,
      reviewed: server.reviewed.map((each) =>
        each.tool.tool === tool ? { ...each, suspended: why } : each
      ),
    }));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    command.powers.screen.say(`  ${displayText(error.message, { max: 300 })}`);
  }
}
