/** Two agents of one kernel with names, inboxes and a simulated gate, in memory. */
import {
  CallId,
  Digest,
  type Lease,
  LeaseId,
  Pid,
  type Scope,
  TaskId,
  ToolName,
} from "../../contracts/authority/mod.ts";
import { Fault, type JsonObject } from "../../contracts/base/mod.ts";
import {
  type AgentMessage,
  type InboxEntry,
  InboxId,
  type MessageStamp,
  Sender,
} from "../../contracts/exchange/mod.ts";
import type { GrantedCall, PowerResult, ProcessRow } from "../../contracts/task/mod.ts";
import { ToolDescriptor, type ToolResult } from "../../contracts/tool/mod.ts";
import { digestOf } from "../../port/digest.ts";
import { memoryLog } from "./fakes.ts";
import { makeTaskMail, type TaskMail } from "../post/mail/mail.ts";
import type { MailInbox, MailParts, Offers } from "../post/mail/tool.ts";
import { makeNamesStore } from "../post/mail/names.ts";

/** HOST's answer about a run; undefined: nobody is there. */
export type Verdict =
  | { readonly allow: true }
  | { readonly deny: string }
  /** The question is queued. */
  | { readonly nobody: true };

/** One agent. */
export interface Person {
  readonly task: TaskId;
  readonly row: ProcessRow;
  readonly mail: TaskMail;
  readonly parts: MailParts;
  /** Calls a tool as the gate would after its decision. */
  call(name: string, args?: JsonObject): Promise<PowerResult>;
}

/** The simulated kernel. */
export interface World {
  /** `peer`: the peer for whose exchange the task works. */
  agent(name: string, task?: TaskId, peer?: string): Person;
  readonly entries: InboxEntry[];
  put(message: Partial<AgentMessage>, stamp: MessageStamp): Promise<InboxEntry>;
  lend(person: Person, scope: Scope): Lease;
  revoke(lease: Lease): void;
  /** HOST decides about the run of a proposal; without one, about the next that is asked. */
  decide(verdict: Verdict, proposal?: number): void;
  /** Programs that ran. */
  readonly ran: string[];
  /** The questions that HOST was asked, as text. */
  readonly asked: string[];
}

const FILE_READ = ToolDescriptor.parse({
  ...{ name: "file_read", description: "Reads a file.", interfaceId: "Files", methodName: "read" },
  ...{ paramSchema: "{}", permission: "auto", category: "read" },
});
const beneath = (outer: Scope, inner: Scope): boolean =>
  outer.resource === inner.resource && outer.right === inner.right &&
  (outer.path === "" || inner.path === outer.path || inner.path.startsWith(`${outer.path}/`));

/** Makes a mail world; `real`: inboxes that check, in place of simulated ones. */
export function makeWorld(
  real?: { readonly inbox: MailInbox; heard(by: TaskId, from: TaskId): void },
): World {
  const log = memoryLog();
  const entries: InboxEntry[] = [];
  const ran: string[] = [], asked: string[] = [];
  const offers: Offers = new Map();
  const leases = new Map<LeaseId, Lease>();
  const verdicts = new Map<number, Verdict>();
  const ANY = 0;
  const waiting: (() => void)[] = [];
  let count = 0;
  const next = (prefix: string): string => `${prefix}${String(count++).padStart(12, "0")}`;
  const names = makeNamesStore({
    log,
    store: {
      document: (kind, id) => {
        const row = log.documents.get(`${kind} ${id}`);
        return Promise.resolve(row && { ...row, version: row.expect + 1 });
      },
    },
  });
  const put: World["put"] = (message, stamp) => {
    const entry: InboxEntry = {
      ...{
        id: InboxId.parse(next("m")),
        n: entries.length + 1,
        state: "queued",
        receivedAt: 1,
        bytes: 1,
      },
      ...{ box: stamp.box, colour: stamp.colour, label: stamp.label },
      message: {
        ...{ id: next("i"), sender: "host", kind: "handoff", body: "" },
        ...{ artifactRefs: [], requestedActions: [], requestedAuthority: [] },
        ...message,
      },
    };
    entries.push(entry);
    return Promise.resolve(entry);
  };
  const inbox: MailInbox = real?.inbox ?? {
    put: async (message, stamp) => ({ entry: await put(message, stamp), duplicate: false }),
    past: ({ box }) => Promise.resolve(entries.filter((each) => each.box === box)),
    dismiss: (id) => {
      const at = entries.findIndex((each) => each.id === id);
      const found = entries[at];
      if (found === undefined) throw new Fault("notFound", "Cannot dismiss: there is none");
      const dismissed: InboxEntry = { ...found, state: "dismissed" };
      entries[at] = dismissed;
      return Promise.resolve(dismissed);
    },
  };
  const grant = (task: TaskId, pid: Pid, scope: Scope, parent?: LeaseId): Lease => {
    const lease: Lease = {
      ...{
        id: LeaseId.parse(next("l")),
        task,
        pid,
        scope,
        grantedAt: 0,
        expiresAt: 9e9,
        reason: "test",
      },
      ...(parent === undefined ? {} : { parent }),
    };
    leases.set(lease.id, lease);
    return lease;
  };
  const alive = (id: LeaseId): boolean => {
    const lease = leases.get(id);
    return lease !== undefined && (lease.parent === undefined || alive(lease.parent));
  };

  function agent(name: string, task = TaskId.parse(next("t")), peer?: string): Person {
    const pid = Pid.parse(++count);
    // The tools read only these fields of a row.
    const row = {
      ...{ pid, task, colour: "BLUE", label: "public" },
      snapshot: { id: Digest.parse("a".repeat(64)), tools: [FILE_READ] },
    } as unknown as ProcessRow;
    const run = async (tool: string, args: JsonObject, id: string): Promise<PowerResult> => {
      const binding = mail.bindings.find(({ descriptor }) => descriptor.name === tool);
      if (binding === undefined) throw new Fault("unknownTool", `Cannot call "${tool}"`);
      const resolved = binding.resolve(args, row);
      const call: GrantedCall = {
        ...{ task, pid, callId: CallId.parse(id), tool: ToolName.parse(tool), args, resolved },
        ...{ token: "", deadlineMs: 1_000, resultBytes: 1_000 },
        idempotencyKey: digestOf({ task, id, args }),
      };
      const result = await binding.invoke(call, new AbortController().signal);
      binding.committed?.(call, result);
      return result;
    };
    const answer = (id: CallId, more: Partial<ToolResult>): ToolResult => ({
      ...{ callId: id, outcome: "ok", content: "", colour: "BLUE", label: "public" },
      ...more,
    });
    const parts: MailParts = {
      ...{ task, agent: name, names: names.of(name, task), offers, covers: beneath },
      ...(peer === undefined ? {} : { peer: Sender.parse(peer) }),
      inbox: () => inbox,
      leases: {
        covering: (of, scope) =>
          [...leases.values()].find((lease) =>
            lease.pid === of && alive(lease.id) && beneath(lease.scope, scope)
          ),
        get: (id) => leases.get(id),
        alive,
        derive: (from, to) => {
          const parent = leases.get(from);
          if (parent === undefined || !alive(from) || !beneath(parent.scope, to.scope)) {
            return Promise.reject(
              new Fault("refused", "Cannot derive: the parent does not cover it"),
            );
          }
          return Promise.resolve(grant(parent.task, to.pid, to.scope, from));
        },
      },
      processOf: () => row,
      heard: (from) => real?.heard(task, from),
      redeem: () => undefined,
      gate: () => ({
        async call(_pid, { id, name: tool, arguments: given }): Promise<ToolResult> {
          const args: JsonObject = JSON.parse(given);
          if (tool === "exec") {
            ran.push(String(args["code"]));
            return answer(id, { content: "42" });
          }
          asked.push(given);
          const named = Number(args["proposal"]);
          const taken = (): Verdict | undefined => verdicts.get(named) ?? verdicts.get(ANY);
          while (taken() === undefined) {
            await new Promise<void>((resolve) => waiting.push(resolve));
          }
          const said: Verdict = taken() ?? { nobody: true };
          // Nobody is there the next time either.
          if (!("nobody" in said)) verdicts.delete(verdicts.has(named) ? named : ANY);
          if ("nobody" in said) {
            throw new Fault("needsApproval", "Cannot go on: a question waits", {
              detail: { question: "q000000000000" },
            });
          }
          if ("deny" in said) return answer(id, { outcome: "deniedByUser", error: said.deny });
          try {
            return answer(id, { content: (await run(tool, args, id)).content });
          } catch (error) {
            if (!(error instanceof Fault)) throw error;
            return answer(id, { outcome: "executionError", error: error.message });
          }
        },
      }),
    };
    const mail = makeTaskMail(parts);
    return { task, row, mail, parts, call: (tool, args = {}) => run(tool, args, `c${count++}`) };
  }

  return {
    ...{ agent, entries, put, ran, asked },
    lend: ({ task, row }, scope) => grant(task, row.pid, scope),
    revoke: ({ id }) => void leases.delete(id),
    decide(said, proposal = ANY): void {
      verdicts.set(proposal, said);
      for (const wake of waiting.splice(0)) wake();
    },
  };
}
