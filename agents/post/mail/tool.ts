/** The common parts of the mail tools, and the maker of their bindings. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { Colour, EffectClass, Label } from "../../../contracts/authority/colour.ts";
import type { Gate, Leases } from "../../../contracts/authority/gate.ts";
import type { LeaseId, Pid, TaskId } from "../../../contracts/authority/ids.ts";
import type {
  AgentInbox,
  Box,
  InboxEntry,
  InboxId,
  Sender,
} from "../../../contracts/exchange/inbox.ts";
import { type JsonObject, toJsonObject } from "../../../contracts/base/json.ts";
import type { Scope } from "../../../contracts/authority/lease.ts";
import type { MailRecord } from "../../../contracts/exchange/mail.ts";
import type {
  GrantedCall,
  PowerResult,
  Resolved,
  ToolBinding,
} from "../../../contracts/task/power.ts";
import type { ProcessRow } from "../../../contracts/task/process.ts";
import { MAIL_DESCRIPTORS, type MailTool } from "./descriptors.ts";
import type { AgentNames } from "./names.ts";

/** Leases offered in messages, by message and edge; kept in this kernel's memory, never in a message. */
export type Offers = Map<string, LeaseId>;

/** Names an edge of a message among {@link Offers}. */
export function offerOf(message: InboxId, edge: string): string {
  return `${message} ${edge}`;
}

/** The part of the kernel's inboxes that the tools use. */
export interface MailInbox extends Pick<AgentInbox, "put" | "dismiss"> {
  /** Lists messages, including settled ones, with their text. */
  past(query: { readonly box: Box; readonly limit?: number }): Promise<readonly InboxEntry[]>;
}

/** The parts of one task's tools. */
export interface MailParts {
  readonly task: TaskId;
  /** The agent's name, which selects directory and box. */
  readonly agent: string;
  /** The peer that the task works for, which receives the task's text; absent: none. */
  readonly peer?: Sender | undefined;
  readonly names: AgentNames;
  /** The kernel's inboxes: read at each call, because tools are wired before them. */
  inbox(): MailInbox;
  readonly leases: Pick<Leases, "covering" | "derive" | "alive" | "get">;
  readonly offers: Offers;
  /** Whether one scope lies within another. */
  covers(outer: Scope, inner: Scope): boolean;
  processOf(pid: Pid): ProcessRow | undefined;
  /** The task's gate; undefined once the task has ended. */
  gate(): Pick<Gate, "call"> | undefined;
  /** Records that the task has read a letter of another task, so that it may answer. */
  heard(from: TaskId): void;
  /** Redeems the call's token. Throws if that fails. */
  redeem(call: GrantedCall): void;
}

/** A call's result before it becomes a {@link PowerResult}. */
export interface Said extends Partial<Pick<PowerResult, "value" | "failed" | "sources">> {
  readonly content: string;
  /** Absent: contains nothing that the caller did not know. */
  readonly colour?: Colour;
  readonly label?: Label;
  readonly record?: MailRecord;
}

/** A running call with its process. */
export type MailCall = GrantedCall & { readonly process: ProcessRow };

/** One tool's own part. */
export interface MailAct {
  readonly effect: EffectClass;
  /** Deviations from the tool's defaults, from the current state. Throws a fault. */
  resolve?(
    args: JsonObject,
    caller: ProcessRow,
  ): Partial<Pick<Resolved, "effect" | "digests" | "idempotent" | "colour" | "label" | "summary">>;
  /** Set if the tool waits for people, or for calls with deadlines of their own. */
  readonly keepsDeadline?: true;
  /** Maximum bytes of its answer; absent: 65,536. */
  readonly resultBytes?: number;
  run(call: MailCall, signal: AbortSignal): Promise<Said>;
}

/** Default maximum bytes of a tool's answer. */
const RESULT_BYTES = 65_536;

/** Makes the binding of a tool. */
export function mailBinding(
  parts: Pick<MailParts, "redeem" | "processOf"> & { fold(record: JsonObject): void },
  name: MailTool,
  act: MailAct,
): ToolBinding {
  return Object.freeze<ToolBinding>({
    descriptor: MAIL_DESCRIPTORS[name],
    effect: act.effect,
    deadlineMs: 30_000,
    ...(act.keepsDeadline === undefined ? {} : { keepsDeadline: act.keepsDeadline }),
    resultBytes: act.resultBytes ?? RESULT_BYTES,
    resolve: (args, caller): Resolved => ({
      scopes: [{ resource: "agent", right: "use", path: "mail" }],
      effect: act.effect,
      digests: {},
      summary: `mail: ${name}`,
      idempotent: true,
      ...act.resolve?.(args, caller),
    }),
    async invoke(call, signal): Promise<PowerResult> {
      parts.redeem(call);
      const process = parts.processOf(call.pid);
      if (process === undefined) {
        throw new Fault("gone", `Cannot call "${name}": its process ended`);
      }
      const { record, ...said } = await act.run({ ...call, process }, signal);
      return {
        ...{ colour: "BLUE", label: "public", sources: [] },
        ...said,
        ...(record === undefined ? {} : { record: { mail: toJsonObject(record) } }),
      };
    },
    committed: (_call, { record }) => {
      if (record !== undefined) parts.fold(record);
    },
  });
}

/** A string argument; empty if absent. */
export function textOf(args: JsonObject, name: string): string {
  const value = args[name];
  return typeof value === "string" ? value : "";
}

/** A list of strings; empty if absent. */
export function textsOf(args: JsonObject, name: string): readonly string[] {
  const value = args[name];
  return Array.isArray(value) ? value.map(String) : [];
}
