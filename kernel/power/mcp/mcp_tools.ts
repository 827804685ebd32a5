/**
 * Tools of imported servers in tasks: bound by bind.ts, answered by the servers' own processes. A
 * server's listing is compared with the review at each start.
 * @module
 */
import { DEFAULT_LIMITS } from "../../../contracts/task/budget.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { type Label, mixLabel } from "../../../contracts/authority/colour.ts";
import { isPeer, type PeerSaid } from "../../../contracts/exchange/exchange.ts";
import type { Leases } from "../../../contracts/authority/gate.ts";
import { ArtifactId, type Digest, type TaskId } from "../../../contracts/authority/ids.ts";
import type { Json, JsonObject } from "../../../contracts/base/json.ts";
import type {
  ImportedServer,
  ImportedTool,
  ServerListing,
} from "../../../contracts/exchange/mcp.ts";
import type { GrantedCall, Meanwhile, ToolBinding } from "../../../contracts/task/power.ts";
import type { Powers, ProcessKeeper } from "../../../contracts/task/process.ts";
import type { TaskRequest } from "../../../contracts/task/task.ts";
import type { ToolDescriptor } from "../../../contracts/tool/tool.ts";
import {
  type McpAnswer,
  McpCallResult,
  type McpChanged,
} from "../../../contracts/wire/wire_mcp.ts";
import { Artifact, type StagedChange } from "../../../contracts/tool/workspace.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { displayText } from "../../../text/mod.ts";
import { beneath, grantedLabel, grantMounts } from "../../core/lease/scope.ts";
import type { Progress } from "../../core/log/watch.ts";
import type { McpUnder } from "./calls.ts";
import type { ServerChanges } from "./copies.ts";
import type { HeldMcp, McpServers, McpSession } from "./servers.ts";
import type { PeerHearing, PeerMessages } from "../peer/messages.ts";
import type { McpAsks } from "./asking.ts";
import {
  type Forbids,
  makeMcpForbids,
  makeMcpStanding,
  type McpChanges,
  type McpStanding,
} from "./standing.ts";
import {
  bindImported,
  CALL_MS,
  type KeptBytes,
  type McpAsking,
  type McpBindParts,
} from "./bind.ts";
import type { McpLog } from "./log.ts";
import type { McpSampling } from "./sample.ts";

interface McpToolsParts {
  readonly servers: Pick<McpServers, "hold" | "close">;
  /** Tells whether a file is later executed, by its path on the machine or as `MOUNT/relative`. */
  executes(path: string): boolean;
  /** Computations of bridges/mcp over the review. */
  readonly review: McpBindParts["effects"] & { readonly changes: McpChanges };
  readonly leases: Pick<Leases, "covering">;
  readonly processes: Pick<ProcessKeeper, "get">;
  readonly log: Pick<McpLog, "note" | "close">;
  readonly asks: Pick<McpAsks, "callEnded" | "forget">;
  readonly sampling: Pick<McpSampling, "callEnded" | "forget">;
  readonly artifacts: Parameters<typeof keepArtifact>[0];
  readonly messages: PeerMessages;
  /** The never-list's rule for a path, written without its first slash. */
  readonly policyNever: Forbids;
  redeem(call: GrantedCall): void;
  onProgress(task: TaskId, said: Progress): void;
  /** The name of a variable that the server needs and that was not lent; undefined where all were. */
  lacking(server: ImportedServer): string | undefined;
  /** The digest under which a tool counts as reviewed: the operator's command line passed exactly these texts. */
  digestOf(descriptor: ToolDescriptor): Digest;
}

/** The parts of a request that concern imported servers. */
export type McpRequest = Pick<TaskRequest, "mcp" | "mounts" | "wikis" | "memory">;

/** The task's workspace, as far as servers' changes need it. */
export interface McpWorkspace {
  fold(record: JsonObject): void;
  overlay(): readonly StagedChange[];
  /** Applies changes directly, as one patch; resolves with its record. */
  applyNow(
    changes: readonly StagedChange[],
    call: Pick<GrantedCall, "pid" | "deadlineMs" | "idempotencyKey"> & {
      readonly id: string;
      readonly signal: AbortSignal;
    },
  ): Promise<JsonObject>;
}

/** The imported servers of all tasks. */
export interface McpTools {
  /** The tools of a task's servers. A server starts with the first call. */
  of(task: TaskId, request: McpRequest, made: McpWorkspace): readonly ToolBinding[];
  /** Why a server may not touch a path in its grants; undefined where it may. */
  forbids(
    at: { readonly task: TaskId; readonly server: ImportedServer },
    ...touched: Parameters<Forbids>
  ): string | undefined;
  /** The label of what a server knows in a task. */
  labelOf(at: { readonly task: TaskId; readonly server: ImportedServer }): Label;
  /** Ends the servers of an ended task. */
  close(task: TaskId): Promise<void>;
}

/** One server in one task. */
interface State {
  readonly forbids: Forbids;
  readonly carried: { label: Label };
  readonly standing: McpStanding;
  readonly held: HeldMcp;
}

/** The target of a call's changes. */
interface Into {
  readonly request: McpRequest;
  readonly made: McpWorkspace;
}

/** Characters of one line of progress. */
const MAX_PROGRESS = 500;

/** Makes the imported servers of a kernel's tasks. */
export function makeMcpTools(parts: McpToolsParts): McpTools {
  const { servers, review, leases, log } = parts;
  const tasks = new Map<TaskId, Map<string, State>>();
  /** Listeners for peers' messages during calls, by the call's token. */
  const hearings = new Map<string, PeerHearing>();

  const stateOf = (
    task: TaskId,
    server: ImportedServer,
    { mounts, wikis = [], memory }: McpRequest = { mounts: [] },
  ): State => {
    const states = tasks.get(task) ?? new Map<string, State>();
    tasks.set(task, states);
    const state = states.get(server.name) ?? {
      forbids: makeMcpForbids({
        policyNever: parts.policyNever,
        wikis: [...wikis, ...memory === undefined ? [] : [memory.folder]],
      }),
      carried: { label: grantedLabel(server, mounts) },
      standing: makeMcpStanding({ task, server }, { changes: review.changes, log }),
      held: servers.hold(task, server),
    };
    states.set(server.name, state);
    return state;
  };

  /** The bounds of a request for a call. Throws where the call cannot be made. */
  const underOf = (
    { server, holds }: { readonly server: ImportedServer; readonly holds: ImportedTool["holds"] },
    { task, pid, callId, token, resolved }: GrantedCall,
    signal: AbortSignal,
  ): McpUnder => {
    const row = parts.processes.get(pid);
    if (row === undefined) {
      throw new Fault("gone", `Cannot ask "${server.name}": its caller has ended`);
    }
    const lacking = parts.lacking(server);
    if (lacking !== undefined) {
      throw new Fault(
        "unavailable",
        `Cannot start "${server.name}": the value of ${lacking} was not lent to this kernel; ` +
          "the operator's command line lends it when it starts or resumes a task",
      );
    }
    const { toolTimeoutMs } = row.limits;
    return {
      ...{ pid, callId, holds, signal },
      label: mixLabel(stateOf(task, server).carried.label, resolved.label ?? "secret"),
      deadlineMs: toolTimeoutMs === DEFAULT_LIMITS.toolTimeoutMs ? CALL_MS : toolTimeoutMs,
      onProgress: (text: string): void =>
        parts.onProgress(task, {
          ...{ call: callId, text: displayText(text, { max: MAX_PROGRESS }) },
          label: stateOf(task, server).carried.label,
        }),
      onSaid: (said: PeerSaid): void => hearings.get(token)?.take(said),
    };
  };

  /** Fetches the process's listing and compares it with the review. */
  const checked = async (
    at: { readonly task: TaskId; readonly server: ImportedServer },
    session: Pick<McpSession, "words">,
    under: McpUnder,
  ): Promise<ServerListing> => {
    const words = await session.words(under);
    stateOf(at.task, at.server).standing.check(words);
    return words;
  };

  const meanwhile = async ({ token }: GrantedCall): Promise<Meanwhile | undefined> => {
    const hearing = hearings.get(token);
    hearings.delete(token);
    return await hearing?.end();
  };

  const ask = async (
    server: ImportedServer,
    { op, body, holds, tool }: McpAsking,
    { call, signal, into }: {
      readonly call: GrantedCall;
      readonly signal: AbortSignal;
      readonly into: Into;
    },
  ): Promise<McpAnswer> => {
    const { task, callId } = call;
    if (isPeer(server.launch)) {
      const label = (): Label =>
        mixLabel(stateOf(task, server).carried.label, call.resolved.label ?? "public");
      hearings.set(call.token, parts.messages.hear(call, { name: server.name, label }));
    }
    const under = underOf({ server, holds }, call, signal);
    const { held, standing, carried } = stateOf(task, server);
    try {
      const { value, changes } = await held.use(under, async (session) => {
        await checked({ task, server }, session, under);
        const why = tool === undefined ? standing.whyNothing() : standing.why(tool);
        if (why === undefined) return resultIn(server, await session.ask({ op, body }, under));
        throw new Fault(
          "refused",
          `Cannot call "${call.tool}": ${why}; the operator can look with ` +
            `\`remit ${isPeer(server.launch) ? "a2a" : "mcp"} review ${server.name}\``,
        );
      });
      if (changes === undefined) return value;
      carried.label = mixLabel(carried.label, changes.label);
      return { ...value, changed: await settle(server, changes, { call, signal, into }) };
    } finally {
      parts.asks.callEnded({ task, callId });
      parts.sampling.callEnded({ task, callId });
    }
  };

  /** Applies the changes to directly writable folders at once, except files that are later executed or already staged. */
  const settle = async (
    server: ImportedServer,
    changes: ServerChanges,
    { call, signal, into: { request, made } }: {
      readonly call: GrantedCall;
      readonly signal: AbortSignal;
      readonly into: Into;
    },
  ): Promise<McpChanged> => {
    const { staged: all, unstaged, left, withheld, writtenBytes } = changes;
    const changed = { unstaged, left, withheld, writtenBytes };
    const { direct = [] } = server;
    if (direct.length === 0) return { ...changed, staged: all };
    const places = grantMounts(request).of(server).filter(({ grant }) => direct.includes(grant));
    const before = new Set(made.overlay().map(({ path }) => path));
    const now = all.filter(({ path }) => {
      const place = places.find((each) => beneath(each.path, path));
      return place !== undefined && !before.has(path) && !parts.executes(path) &&
        !parts.executes(`${place.grant}${path.slice(place.path.length)}`);
    });
    if (now.length === 0) return { ...changed, staged: all };
    const { pid, callId, deadlineMs, idempotencyKey } = call;
    const record = await made.applyNow(now, {
      ...{ pid, deadlineMs, idempotencyKey, signal, id: `${pid}-${callId}` },
    });
    return {
      ...{ ...changed, staged: all.filter((change) => !now.includes(change)) },
      applied: { record, paths: now.map(({ path }) => path) },
    };
  };

  return Object.freeze<McpTools>({
    of(task, request, made): readonly ToolBinding[] {
      return (request.mcp ?? []).flatMap((server) => {
        const carried = {
          get label(): Label {
            return stateOf(task, server, request).carried.label;
          },
          set label(label: Label) {
            stateOf(task, server, request).carried.label = label;
          },
        };
        const bound = bindImported(server, {
          ...{ redeem: parts.redeem, fold: made.fold, carried, effects: review },
          // A trial's process is in no table, and is judged as if no lease were revoked.
          held: (row, scope) =>
            parts.processes.get(row.pid) !== row || leases.covering(row.pid, scope) !== undefined,
          suspended: (tool) => tasks.get(task)?.get(server.name)?.standing.why(tool),
          ask: (asking, call, signal) =>
            ask(server, asking, { call, signal, into: { request, made } }),
          words: async (call, signal) => {
            const under = underOf({ server, holds: "read" }, call, signal);
            const { held } = stateOf(task, server);
            return (await held.use(under, (session) => checked({ task, server }, session, under)))
              .value;
          },
          keep: (kept) => keepArtifact(parts.artifacts, task, kept),
        });
        const heard = isPeer(server.launch) ? { meanwhile } : {};
        return bound.map((each) =>
          Object.freeze({ ...each, ...heard, reviewed: parts.digestOf(each.descriptor) })
        );
      });
    },
    forbids: ({ task, server }, path, right) => stateOf(task, server).forbids(path, right),
    labelOf: ({ task, server }) => stateOf(task, server).carried.label,
    async close(task): Promise<void> {
      if (!tasks.delete(task)) return;
      parts.asks.forget(task);
      parts.sampling.forget(task);
      await servers.close(task);
      await log.close(task);
    },
  });
}

/** TRUST: from a bridge that read a stranger's bytes. */
function resultIn(server: ImportedServer, raw: Json): McpCallResult {
  const { success, data } = McpCallResult.safeParse(raw);
  if (success) return data;
  throw new Fault("upstream", `Cannot use the answer of "${server.name}": it does not parse`);
}

// Binary results of imported servers are kept among the task's contents, in quarantine until a person releases them.

/** Milliseconds that an artifact stays in quarantine. */
const TTL = 7 * 24 * 60 * 60 * 1_000;

interface KeepParts {
  readonly powers: Pick<Powers, "now" | "id">;
  /** Makes the folder of a task's contents; undefined once the task has ended. */
  contentDir(task: TaskId): Promise<string | undefined>;
  /** Writes a file atomically. */
  write(path: string, bytes: Uint8Array): Promise<void>;
}

/** Keeps bytes under their digest. Rejects with `gone` once the task has ended. */
async function keepArtifact(
  { powers, contentDir, write }: KeepParts,
  task: TaskId,
  { name, bytes, colour, label }: KeptBytes,
): Promise<Artifact> {
  const folder = await contentDir(task);
  if (folder === undefined) throw new Fault("gone", "Cannot keep a result: its task has ended");
  const digest = sha256Hex(bytes);
  await write(`${folder}/${digest}`, bytes);
  const now = powers.now();
  return Artifact.parse({
    id: ArtifactId.parse(powers.id("a")),
    ...{ task, name, digest, bytes: bytes.length, colour, label },
    ...{ state: "quarantined", createdAt: now, expiresAt: now + TTL },
  });
}
