/** What the tools of mail are made of: one maker of bindings, and what all of them are handed. @module */
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

/** Leases that messages offer, by message and edge: in this kernel's memory, never in a message. */
export type Offers = Map<string, LeaseId>;

/** Names an edge of a message among {@link Offers}. */
export function offerOf(message: InboxId, edge: string): string {
  return `${message} ${edge}`;
}

/** What of the kernel's inboxes the tools use. */
export interface MailInbox extends Pick<AgentInbox, "put" | "dismiss"> {
  /** Also settled ones, with their words. */
  past(query: { readonly box: Box; readonly limit?: number }): Promise<readonly InboxEntry[]>;
}

/** What the tools of one task are handed. */
export interface MailParts {
  readonly task: TaskId;
  /** The agent's name: whose directory and box it is. */
  readonly agent: string;
  /** The peer that the task works for, which is told what the task says; absent: it works for nobody outside. */
  readonly peer?: Sender | undefined;
  readonly names: AgentNames;
  /** The kernel's inboxes: asked for at each call, because tools are wired before them. */
  inbox(): MailInbox;
  readonly leases: Pick<Leases, "covering" | "derive" | "alive" | "get">;
  readonly offers: Offers;
  /** Whether one scope lies within another. */
  covers(outer: Scope, inner: Scope): boolean;
  processOf(pid: Pid): ProcessRow | undefined;
  /** The gate as the task has it; undefined when it has ended. */
  gate(): Pick<Gate, "call"> | undefined;
  /** The task read a letter of another: it may answer. */
  heard(from: TaskId): void;
  /** Takes the call's token, once. Throws as the token does. */
  redeem(call: GrantedCall): void;
}

/** What a call came to, before it is a result. */
export interface Said extends Partial<Pick<PowerResult, "value" | "failed" | "sources">> {
  readonly content: string;
  /** Absent: it says nothing that its caller did not know. */
  readonly colour?: Colour;
  readonly label?: Label;
  readonly record?: MailRecord;
}

/** A call under way, with its process. */
export type MailCall = GrantedCall & { readonly process: ProcessRow };

/** One tool's own part. */
export interface MailAct {
  readonly effect: EffectClass;
  /** What of the call is not the tool's usual: read from state as it is now. Throws a fault. */
  resolve?(
    args: JsonObject,
    caller: ProcessRow,
  ): Partial<Pick<Resolved, "effect" | "digests" | "idempotent" | "colour" | "label" | "summary">>;
  /** It waits for people, or for calls that have deadlines of their own. */
  readonly keepsDeadline?: true;
  /** Bytes of its answer; absent: 65,536. */
  readonly resultBytes?: number;
  run(call: MailCall, signal: AbortSignal): Promise<Said>;
}

/** Bytes of a tool's answer. */
const RESULT_BYTES = 65_536;

/** Makes a tool as the gate knows it. */
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

/** A text among arguments that the schema let in; empty when absent. */
export function textOf(args: JsonObject, name: string): string {
  const value = args[name];
  return typeof value === "string" ? value : "";
}

/** Texts among arguments; empty when absent. */
export function textsOf(args: JsonObject, name: string): readonly string[] {
  const value = args[name];
  return Array.isArray(value) ? value.map(String) : [];
}
