/** The effect of an imported tool: computed of what its server was granted. @module */
import { isPeer } from "../../../contracts/exchange/exchange.ts";
import { mcpSocketsOf } from "../../../contracts/exchange/mcp.ts";
import type { EffectClass } from "../../../contracts/authority/mod.ts";
import type {
  ImportedTool,
  McpGrants,
  McpLaunch,
  McpToolWords,
} from "../../../contracts/exchange/mod.ts";

/** What decides about effects beside a server's own words. */
export interface EffectAt {
  readonly grants: McpGrants;
  readonly launch: McpLaunch;
  /** Of `grants.write`: changes there are not staged. */
  readonly direct?: readonly string[] | undefined;
  /** Tools, by the server's names, of which the operator said that they only read, and that they do not. */
  readonly reads?: readonly string[] | undefined;
  readonly writes?: readonly string[] | undefined;
}

type ToolEffect = Pick<ImportedTool, "effect" | "holds" | "idempotent">;

/** First words of names whose tools only look. */
const LOOKING = new Set([
  ...["check", "compare", "count", "describe", "diff", "exists", "fetch", "find", "get", "has"],
  ...["inspect", "is", "list", "load", "lookup", "peek", "preview", "query", "read", "recall"],
  ...[
    "search",
    "show",
    "stat",
    "status",
    "summarize",
    "tail",
    "tree",
    "validate",
    "verify",
    "view",
  ],
]);
/** Words anywhere in a name that a tool which only looks does not have. */
const CHANGING = new Set([
  ...["add", "append", "apply", "archive", "book", "cancel", "clear", "commit", "copy", "create"],
  ...["delete", "drop", "edit", "insert", "install", "invite", "mark", "merge", "move", "patch"],
  ...["pay", "post", "purchase", "push", "put", "remove", "rename", "replace", "reserve", "reset"],
  ...["save", "schedule", "send", "set", "share", "store", "update", "upload", "write"],
]);

/** Words of a name: `getBalance`, `get_balance`, `get-balance`. */
function wordsOf(name: string): readonly string[] {
  return name.slice(0, 256).replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase()
    .split(/[^a-z0-9]+/).filter((word) => word !== "");
}

/**
 * Whether a tool is taken to only read: as the operator said, else as its hint says, else by its name. Nothing hangs on
 * it but what works: a tool that is taken for reading is served by a process that can do no more.
 */
function takenToRead(
  { name, annotations = {} }: Pick<McpToolWords, "name" | "annotations">,
  { reads = [], writes = [] }: Pick<EffectAt, "reads" | "writes">,
): boolean {
  if (writes.includes(name)) return false;
  if (reads.includes(name)) return true;
  const { readOnlyHint, destructiveHint } = annotations;
  if (readOnlyHint !== undefined) return readOnlyHint;
  if (destructiveHint === true) return false;
  const [first = "", ...rest] = wordsOf(name);
  // A server's own name often stands before the verb: `git_status`, `calendar_get_day`.
  const verb = LOOKING.has(first) ? first : rest.find((word) => LOOKING.has(word));
  return verb !== undefined && ![first, ...rest].some((word) => CHANGING.has(word));
}

/**
 * The highest effect that the server's grants allow during a call of the tool. What the tool says of
 * itself can only raise it; that it only reads is believed where it is enforced: such calls are served by a process
 * that was granted no change.
 */
export function effectOf(
  words: Pick<McpToolWords, "name" | "annotations">,
  at: EffectAt,
): ToolEffect {
  const { annotations = {} } = words;
  // A message to a peer is a message, whatever it says that it does with it.
  if (isPeer(at.launch)) {
    return {
      ...{ effect: "outboundWrite", holds: "all" },
      idempotent: annotations.idempotentHint === true,
    };
  }
  // Whoever listens at a socket does what it is told, and only the server knows what that is.
  const tells = mcpSocketsOf(at.grants.net).length > 0;
  const holds = at.launch.kind !== "http" && !tells && takenToRead(words, at) ? "read" : "all";
  const floor = grantedEffect(holds, at);
  const granted = floor === "outboundRead" && annotations.readOnlyHint === false
    ? "outboundWrite"
    : floor;
  // Without anything to change, a destructive tool has nothing to destroy; what is staged is there as before.
  const effect = annotations.destructiveHint === true && granted !== "read" && granted !== "stage"
    ? "destructive"
    : granted;
  // What is staged is nothing before its outcome is committed: such a call may be made again.
  const again = effect === "read" || effect === "stage" ||
    (annotations.readOnlyHint === true && !tells) || annotations.idempotentHint === true;
  return { effect, holds, idempotent: again && effect !== "destructive" };
}

/** What the grants alone allow during a call that is held so. */
export function grantedEffect(
  holds: ImportedTool["holds"],
  { grants, launch, direct = [] }: Pick<EffectAt, "grants" | "launch" | "direct">,
): Extract<EffectClass, "read" | "stage" | "mutateLocal" | "outboundRead" | "outboundWrite"> {
  if (isPeer(launch) || mcpSocketsOf(grants.net).length > 0) return "outboundWrite";
  if (launch.kind === "http" || grants.net.length > 0) return "outboundRead";
  if (holds === "read" || grants.write.length === 0) return "read";
  return direct.length > 0 ? "mutateLocal" : "stage";
}
