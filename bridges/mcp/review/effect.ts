/**
 * The effect class of an imported tool, computed from its server's grants. Used by translate.ts and
 * kernel/main_mcp.ts.
 * @module
 */
import { isPeer } from "../../../contracts/exchange/exchange.ts";
import { mcpSocketsOf } from "../../../contracts/exchange/mcp.ts";
import type { EffectClass } from "../../../contracts/authority/mod.ts";
import type {
  ImportedTool,
  McpGrants,
  McpLaunch,
  McpToolWords,
} from "../../../contracts/exchange/mod.ts";

/** What decides about effects beside the server's own words. */
export interface EffectAt {
  readonly grants: McpGrants;
  readonly launch: McpLaunch;
  /** Paths of `grants.write` whose changes are not staged. */
  readonly direct?: readonly string[] | undefined;
  /** Tools that the operator declared as reading only, by the server's names, and as changing something. */
  readonly reads?: readonly string[] | undefined;
  readonly writes?: readonly string[] | undefined;
}

type ToolEffect = Pick<ImportedTool, "effect" | "holds" | "idempotent">;

/** Verbs in the names of tools that only read. */
const READ_VERBS = new Set(
  ("check compare count describe diff exists fetch find get has inspect is list load lookup peek " +
    "preview query read recall search show stat status summarize tail tree validate verify view")
    .split(" "),
);
/** Words that rule out reading wherever they stand in a name. */
const WRITE_VERBS = new Set(
  ("add append apply archive book cancel clear commit copy create delete drop edit insert install " +
    "invite mark merge move patch pay post purchase push put remove rename replace reserve reset " +
    "save schedule send set share store update upload write").split(" "),
);

/** The words of a name such as `getBalance`, `get_balance`, `get-balance`. */
function wordsOf(name: string): readonly string[] {
  return name.slice(0, 256).replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase()
    .split(/[^a-z0-9]+/).filter((word) => word !== "");
}

/**
 * Whether a tool counts as reading only: by the operator's word, else its hint, else its name. A
 * wrong guess costs function, not safety: a process that can change nothing serves such a tool.
 */
function countsAsReading(
  { name, annotations = {} }: Pick<McpToolWords, "name" | "annotations">,
  { reads = [], writes = [] }: Pick<EffectAt, "reads" | "writes">,
): boolean {
  if (writes.includes(name)) return false;
  if (reads.includes(name)) return true;
  const { readOnlyHint, destructiveHint } = annotations;
  if (readOnlyHint !== undefined) return readOnlyHint;
  if (destructiveHint === true) return false;
  const [first = "", ...rest] = wordsOf(name);
  // A server's own name often precedes the verb: `git_status`, `calendar_get_day`.
  const verb = READ_VERBS.has(first) ? first : rest.find((word) => READ_VERBS.has(word));
  return verb !== undefined && ![first, ...rest].some((word) => WRITE_VERBS.has(word));
}

/**
 * The highest effect that the server's grants allow during a call of the tool. A tool's own hints
 * can only raise it, except that reading is believed where it is enforced: by a process without
 * write access.
 */
export function effectOf(
  words: Pick<McpToolWords, "name" | "annotations">,
  at: EffectAt,
): ToolEffect {
  const { annotations = {} } = words;
  // A message to a peer leaves this machine, whatever the peer says that it does with it.
  if (isPeer(at.launch)) {
    const idempotent = annotations.idempotentHint === true;
    return { effect: "outboundWrite", holds: "all", idempotent };
  }
  // A listener at a socket obeys any request, and only the server knows which requests it sends.
  const commands = mcpSocketsOf(at.grants.net).length > 0;
  const holds = at.launch.kind !== "http" && !commands && countsAsReading(words, at)
    ? "read"
    : "all";
  const floor = grantedEffect(holds, at);
  const granted = floor === "outboundRead" && annotations.readOnlyHint === false
    ? "outboundWrite"
    : floor;
  // Nothing to change is nothing to destroy; staged changes leave the files as they were.
  const effect = annotations.destructiveHint === true && granted !== "read" && granted !== "stage"
    ? "destructive"
    : granted;
  // A staged change has no effect before its outcome is committed: such a call may be repeated.
  const repeatable = effect === "read" || effect === "stage" ||
    (annotations.readOnlyHint === true && !commands) || annotations.idempotentHint === true;
  return { effect, holds, idempotent: repeatable && effect !== "destructive" };
}

/** The effect that the grants alone allow during a call served by a process that `holds` so much. */
export function grantedEffect(
  holds: ImportedTool["holds"],
  { grants, launch, direct = [] }: Pick<EffectAt, "grants" | "launch" | "direct">,
): Extract<EffectClass, "read" | "stage" | "mutateLocal" | "outboundRead" | "outboundWrite"> {
  if (isPeer(launch) || mcpSocketsOf(grants.net).length > 0) return "outboundWrite";
  if (launch.kind === "http" || grants.net.length > 0) return "outboundRead";
  if (holds === "read" || grants.write.length === 0) return "read";
  return direct.length > 0 ? "mutateLocal" : "stage";
}
