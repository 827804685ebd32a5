/** Events of imported servers in a few words, for the live view and the log. What they hold is untrusted text. @module */
import { numberOf, type SeenEvent, textOf } from "../audit/event_fields.ts";

/** What a server did, in words; `mark` says how loudly. */
export interface McpHappening {
  readonly mark: "refused" | "warning" | "quiet";
  readonly words: string;
  /** A path that the words end with: shown from its end where there is little room. */
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

/** The tool that was suspended, when an event says so. */
export function suspendedTool(event: SeenEvent): string | undefined {
  if (event.event !== "mcp" || textOf(event, "what") !== "suspended") return undefined;
  const tool = textOf(event, "tool");
  return tool === "" ? undefined : tool;
}

/** What an event of kind `mcp` says; undefined for an event of another kind. */
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
    // Tools that nobody approved are offered at each start: models are told of none of them.
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

/** All of it in a line: `files tried to read /etc/passwd`. Empty for an event of another kind. */
export function mcpWords(event: SeenEvent): string {
  const happened = mcpHappening(event);
  if (happened === undefined) return "";
  const { words, path = "" } = happened;
  return [textOf(event, "server"), words, path].filter((each) => each !== "").join(" ");
}
