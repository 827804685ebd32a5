/** Counts a task's actions from its events, for the closing summary. @module */
import { argumentsOf, numberOf, type SeenEvent, subjectOf, textOf } from "../audit/event_fields.ts";
import { mcpHappening } from "../mcp/events.ts";

/** A refused or failed call. All texts are untrusted. */
export interface Refusal {
  readonly tool: string;
  readonly subject: string;
  readonly outcome: string;
  readonly rule: string;
  readonly why: string;
}

/** A question and its decision. */
export interface Asked {
  readonly question: string;
  readonly tool: string;
  readonly decision: string;
  readonly by: string;
}

/** Calls outside of the task's files, by tool; commands by program. Untrusted. */
export interface Did {
  readonly tool: string;
  readonly kind: "imported" | "peer" | "network" | "command" | "other";
  readonly effect: string;
  readonly calls: number;
  /** How many of the calls ended with an error. Effects before the error remain. */
  readonly failed: number;
  /** How many of the calls have no known outcome: they may have happened. */
  readonly open: number;
}

/** Running totals over a task's events. */
export interface Tally {
  take(event: SeenEvent): void;
  readonly read: ReadonlySet<string>;
  /** Pages and notes written to the memory. Untrusted. */
  readonly remembered: readonly string[];
  readonly refused: readonly Refusal[];
  /** Actions that the list of changed files does not show. */
  readonly did: readonly Did[];
  /** Calls that were allowed and failed. */
  readonly failed: readonly Omit<Refusal, "rule">[];
  readonly asked: readonly Asked[];
  /** How many earlier answers were reused. */
  readonly reused: number;
  /** The model's accepted description of the task; untrusted. */
  readonly intake: Readonly<Record<string, unknown>> | undefined;
  /** The reason in the task's last status; untrusted. */
  readonly reason: string;
  readonly spent: {
    readonly calls: number;
    readonly turns: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
    /** US dollars. */
    readonly money: number;
  };
}

const REMEMBERING: ReadonlyMap<string, string> = new Map([
  ["wiki_propose", "wiki page"],
  ["memory_note", "note"],
]);
const COMMANDS = new Set(["command", "process_start"]);
const OUTBOUND = new Set(["outboundRead", "outboundWrite"]);
const GRAVE = new Set(["destructive", "admin"]);

/** The kind of a call that acts outside of the task's files; undefined for any other call. */
function deedOf(tool: string, effect: string): Did["kind"] | undefined {
  if (tool.startsWith("mcp_")) return "imported";
  if (tool.startsWith("a2a_") || tool.startsWith("peer_")) return "peer";
  if (COMMANDS.has(tool)) return "command";
  if (OUTBOUND.has(effect)) return "network";
  return GRAVE.has(effect) ? "other" : undefined;
}

/** Bounds for untrusted servers, which may be refused, act and read without end. */
const MAX_REFUSED = 200;
const MAX_DID = 200;
const MAX_READ = 200;
/** A server's own files within its walls: its code, its scratch. */
const OWN = /^\/(?:dd|deno|private|proc|relay|run|tree)(?:\/|$)/;
const READING = new Set(["file_read", "file_search", "file_list", "file_stat"]);

/** Starts new totals. */
export function makeTally(): Tally {
  const read = new Set<string>();
  const remembered: string[] = [];
  const refused: Refusal[] = [];
  const did = new Map<string, Did>();
  const failed: Omit<Refusal, "rule">[] = [];
  const asked = new Map<string, Asked>();
  const spent = { calls: 0, turns: 0, inputTokens: 0, outputTokens: 0, money: 0 };
  let reused = 0;
  let reason = "";
  let intake: Tally["intake"];

  const missed = (event: SeenEvent, outcome: string): Omit<Refusal, "rule"> => ({
    tool: textOf(event, "tool") || textOf(event, "name"),
    subject: subjectOf(event),
    outcome,
    why: textOf(event, "why") || textOf(event, "error"),
  });

  /** Counts an action: an intent opens it, its outcome closes it. */
  const act = (event: SeenEvent, more: Partial<Pick<Did, "calls" | "failed" | "open">>): void => {
    const tool = textOf(event, "tool"), effect = textOf(event, "effect");
    const kind = deedOf(tool, effect);
    if (kind === undefined) return;
    const program = argumentsOf(event)["program"];
    const named = kind === "command" && typeof program === "string" ? `${tool} ${program}` : tool;
    const key = JSON.stringify([named, effect]);
    const { calls = 0, failed = 0, open = 0 } = did.get(key) ?? {};
    if (!did.has(key) && did.size >= MAX_DID) return;
    did.set(key, {
      ...{ tool: named, kind, effect, calls: calls + (more.calls ?? 0) },
      ...{ failed: failed + (more.failed ?? 0), open: Math.max(0, open + (more.open ?? 0)) },
    });
  };

  const take = (event: SeenEvent): void => {
    switch (event.event) {
      case "taskStatus":
        reason = textOf(event, "reason");
        return;
      case "taskIntake":
        if (event.body["misfit"] !== true) intake = event.private;
        return;
      case "inferred":
        spent.turns += 1;
        spent.inputTokens += numberOf(event, "inputTokens");
        spent.outputTokens += numberOf(event, "outputTokens");
        spent.money += numberOf(event, "money");
        return;
      case "refused":
        spent.calls += 1;
        refused.push({
          ...missed(event, textOf(event, "outcome") || "refusedByPolicy"),
          rule: textOf(event, "rule"),
        });
        return;
      case "intent":
        act(event, { calls: 1, open: 1 });
        return;
      case "outcome": {
        spent.calls += 1;
        const outcome = textOf(event, "outcome");
        act(event, { open: -1, failed: outcome === "ok" ? 0 : 1 });
        if (textOf(event, "decision") === "reused") reused += 1;
        if (outcome !== "ok") {
          failed.push(missed(event, outcome));
          return;
        }
        const kind = REMEMBERING.get(textOf(event, "tool"));
        if (kind !== undefined) remembered.push(`${kind} ${subjectOf(event)}`);
        if (READING.has(textOf(event, "tool"))) {
          const subject = subjectOf(event);
          if (subject !== "") read.add(subject);
        }
        return;
      }
      case "mcp": {
        const path = textOf(event, "value");
        const isRead = textOf(event, "permission") === "read" && event.body["allowed"] === true;
        if (isRead && path.startsWith("/") && !OWN.test(path) && read.size < MAX_READ) {
          read.add(`${path} (by ${textOf(event, "server")})`);
        }
        const happening = mcpHappening(event);
        const subject = `${happening?.words ?? ""} ${happening?.path ?? ""}`.trim();
        const tool = textOf(event, "server");
        const known = refused.some((each) => each.tool === tool && each.subject === subject);
        if (happening?.mark !== "refused" || known || refused.length >= MAX_REFUSED) return;
        const rule = textOf(event, "what") === "suspended" ? "its review" : "its grants";
        refused.push({ tool, subject, outcome: "refusedByPolicy", rule, why: "" });
        return;
      }
      case "questionAsked": {
        const question = textOf(event, "question");
        const tool = textOf(event, "tool");
        if (!asked.has(question)) asked.set(question, { question, tool, decision: "open", by: "" });
        return;
      }
      case "questionAnswered": {
        const question = textOf(event, "question");
        const before = asked.get(question) ?? { question, tool: textOf(event, "tool") };
        asked.set(question, {
          ...before,
          decision: textOf(event, "decision") || textOf(event, "state"),
          by: textOf(event, "by") || textOf(event, "actor"),
        });
        return;
      }
    }
  };

  return Object.freeze({
    take,
    read,
    remembered,
    refused,
    get did() {
      return [...did.values()];
    },
    failed,
    get asked() {
      return [...asked.values()];
    },
    get reused() {
      return reused;
    },
    get intake() {
      return intake;
    },
    get reason() {
      return reason;
    },
    spent,
  });
}
