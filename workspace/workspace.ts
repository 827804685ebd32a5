/**
 * One task's workspace in the kernel: no file authority, only staged changes and access rights.
 * @module
 */
import { mixColour, mixLabel } from "../contracts/authority/colour.ts";
import type { ContentLookup, ContentTrust } from "../contracts/memory/content_trust.ts";
import { Fault } from "../contracts/base/fault.ts";
import { ArtifactId, Digest, type TaskId, type ToolName } from "../contracts/authority/ids.ts";
import { type JsonObject, toJson } from "../contracts/base/json.ts";
import type { GrantedCall, PowerResult, ToolBinding } from "../contracts/task/power.ts";
import type { Scope } from "../contracts/authority/lease.ts";
import type { Powers, ProcessRow } from "../contracts/task/process.ts";
import { HOST_READ_BYTES, type HostCallAnswer } from "../contracts/wire/wire_toolhost.ts";
import {
  Artifact,
  type Mount,
  type PatchSet,
  type StagedChange,
} from "../contracts/tool/workspace.ts";
import { CHECK, UNDO } from "./_wire.ts";
import { type ToolEntry, WORKSPACE_TOOLS } from "./descriptors.ts";
import { applyingScopes, callHost, type HostLink } from "./host_link.ts";
import { makeTaints, type Taints } from "./host/taint.ts";
import { type AppliedPatch, makeLedger, type Restored, type SanitizedContents } from "./ledger.ts";
import { changeJson, patchDigest, patchOf } from "./patch.ts";
import { parsePath, SCRATCH } from "./path.ts";
import {
  applying,
  changing,
  publishing,
  reading,
  readScope,
  resolveChanges,
  type ResolveParts,
  type Resolver,
  scratchWriting,
} from "./resolve.ts";
import { makeUndoCall, type UndoCall, type UndoOptions } from "./undo.ts";

/** Milliseconds for which an artifact waits in quarantine. */
const ARTIFACT_TTL = 7 * 24 * 60 * 60 * 1_000;

const NO_KEY = Digest.parse("0".repeat(64));

export interface WorkspaceParts {
  readonly task: TaskId;
  readonly mounts: readonly Mount[];
  readonly host: HostLink;
  readonly powers: Pick<Powers, "now" | "id">;
  /** Consumes a call's token before its effect; throws Fault `refused` for a dead token. */
  redeem(call: GrantedCall): void;
  /** Tells whether a file `MOUNT/relative` is later executed. */
  executes(path: string): boolean;
  /** Known taints of contents in the whole state, including those that enter a mount. */
  readonly contents: Pick<ContentTrust, "of" | "record">;
  readonly restored?: Restored;
}

/** One task's workspace. */
export interface Workspace {
  readonly bindings: ReadonlyMap<ToolName, ToolBinding>;
  /** Changes staged over the mounts, sorted by path. */
  overlay(): readonly StagedChange[];
  /** All staged changes as one patch; undefined when there are none. */
  patch(): PatchSet | undefined;
  /** Patches applied to the folder, newest last. */
  applied(): readonly AppliedPatch[];
  artifacts(): readonly Artifact[];
  /** Replays the `record` of a committed outcome, or of an undo. */
  fold(record: JsonObject): void;
  /**
   * Applies changes that are not staged, as one patch. Returns the record to commit and fold.
   * Rejects as `patch_apply` does: then nothing was changed.
   */
  applyNow(changes: readonly StagedChange[], call: ApplyNow): Promise<JsonObject>;
  /**
   * Checks whether all staged changes fit the folder as it is now; changes nothing.
   *
   * @throws Fault `conflict` with detail `{ patch, conflicts }`
   */
  check(patch: PatchSet, call: Omit<Look, "tool" | "args" | "scope">): Promise<void>;
  /** Prepares reverting a patch or files of it. Throws Fault `notFound` unless it is applied. */
  undoCall(patch: Digest, options?: UndoOptions): UndoCall;
  /**
   * Prepares reverting what a crash left of a patch whose changes are still staged, and of its
   * temporary files; undefined when they are no longer staged.
   */
  putBackCall(patch: Digest, paths: readonly string[]): UndoCall | undefined;
  /** The scope of reading `MOUNT/relative` as this process may. Throws the faults of the tools. */
  readScope(path: string, process: Pick<ProcessRow, "mounts">): Scope;
  /**
   * Reads or lists for a plugin; `tool` is `host_read` or `host_list`. The kernel has checked that
   * the plugin's call covers the scope.
   */
  look(call: Look): Promise<HostCallAnswer>;
}

/** See {@link Workspace.applyNow}: the call that makes the changes. */
export type ApplyNow =
  & Pick<GrantedCall, "pid" | "deadlineMs" | "idempotencyKey">
  & Pick<Look, "id" | "signal">;

export interface Look {
  readonly tool: string;
  readonly args: JsonObject;
  readonly process: ProcessRow;
  /** Unique among the calls under way. */
  readonly id: string;
  readonly scope: Scope;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

const RESOLVERS: Readonly<Record<string, Resolver>> = {
  file_list: reading("list"),
  file_read: reading("read"),
  file_search: reading("search"),
  file_stat: reading("look at"),
  file_edit: changing("edit"),
  file_write: changing("write"),
  file_delete: changing("delete"),
  scratch_write: scratchWriting,
  patch_apply: applying,
  outbox_publish: publishing,
};

/**
 * Makes the workspace of one task.
 *
 * @throws Fault `invalidInput` when a mount takes the reserved name `scratch`, or two share a name
 */
export function makeWorkspace(parts: WorkspaceParts): Workspace {
  const mounts = new Map(parts.mounts.map((mount) => [String(mount.name), mount]));
  if (mounts.has(SCRATCH)) {
    throw new Fault("invalidInput", `Cannot mount a folder as "${SCRATCH}": the name is reserved`);
  }
  if (mounts.size !== parts.mounts.length) {
    throw new Fault("invalidInput", "Cannot mount two folders under one name");
  }
  const ledger = makeLedger(parts.restored);
  const taints = makeTaints({ mounts: parts.mounts });
  const resolving: ResolveParts = { mounts, ledger, executes: parts.executes };

  const invoke = async (call: GrantedCall, signal: AbortSignal): Promise<PowerResult> => {
    parts.redeem(call);
    const writable = call.resolved.effect === "mutateLocal";
    const patching = call.tool === "patch_apply";
    const sent = patching ? withPatch(call) : call;
    const sanitized = sanitizedBy(call, { mounts, taints, contents: parts.contents });
    // Recorded before the effect: no crash leaves bytes of unknown taint in a folder.
    if (patching) record(call.resolved.changes ?? [], sanitized);
    const answer = await callHost({ host: parts.host, overlay: ledger.overlay }, sent, {
      writable,
      signal,
      id: `${call.pid}-${call.callId}`,
    });
    if (writable && !patching) record(answer.staged ?? []);
    return resultOf(parts, call, { answer, sanitized });
  };

  const record = (changes: readonly StagedChange[], sanitized?: SanitizedContents): void => {
    const clean = new Map(sanitized?.contents.map(({ digest, to }) => [digest, to]));
    parts.contents.record(changes.flatMap(({ next, bytes, colour, label }) => {
      if (next === undefined) return [];
      const to = clean.get(next);
      return [{
        digest: next,
        bytes,
        colour,
        label,
        ...(to === undefined ? {} : { sanitized: to }),
      }];
    }));
  };

  const ownMounts = (process: Pick<ProcessRow, "mounts">): ReadonlyMap<string, Mount> => {
    const held = new Set(process.mounts.map(({ name }) => String(name)));
    return new Map([...mounts].filter(([name]) => held.has(name)));
  };

  const bind = ({ descriptor, effect, deadlineMs, resultBytes }: ToolEntry): ToolBinding => {
    const resolver = RESOLVERS[descriptor.name];
    if (resolver === undefined) throw new TypeError(`Cannot bind ${descriptor.name}: no resolver`);
    return Object.freeze<ToolBinding>({
      descriptor,
      effect,
      deadlineMs,
      resultBytes,
      resolve: (args, process) =>
        resolver({ ...resolving, mounts: ownMounts(process) }, args, process),
      invoke,
      committed: (_call, result) => {
        if (result.record !== undefined) ledger.fold(result.record);
      },
    });
  };

  return Object.freeze({
    bindings: new Map(WORKSPACE_TOOLS.map((entry) => [entry.descriptor.name, bind(entry)])),
    overlay: () => ledger.staged(),
    patch: () => patchOf(parts.task, ledger.staged()),
    applied: () => ledger.applied(),
    artifacts: () => ledger.artifacts(),
    fold: (record: JsonObject) => ledger.fold(record),
    readScope: (path: string, process: Pick<ProcessRow, "mounts">) =>
      readScope({ mounts: ownMounts(process) }, parsePath(path)),
    look: ({ tool, args, process, id, scope, deadlineMs, signal }: Look) =>
      callHost({ host: parts.host, overlay: ledger.overlay }, {
        ...{ tool, args, deadlineMs, pid: process.pid },
        resultBytes: HOST_READ_BYTES,
        // A read writes nothing under this key.
        idempotencyKey: NO_KEY,
        resolved: { scopes: [scope], colour: process.colour, label: process.label },
      }, { writable: false, signal, id }),
    async applyNow(
      changes: readonly StagedChange[],
      { id, signal, ...call }: ApplyNow,
    ): Promise<JsonObject> {
      const resolved = resolveChanges(resolving, changes, { colour: "BLUE", label: "public" });
      const sent = {
        ...{ ...call, tool: "patch_apply", resolved, resultBytes: HOST_READ_BYTES },
        args: { patch: patchDigest(changes), changes: changes.map(changeJson) },
      };
      const answer = await callHost({ host: parts.host, overlay: ledger.overlay }, sent, {
        ...{ writable: true, signal, id },
      });
      return { applied: { ...sent.args, made: madeBy(answer) } };
    },
    async check(
      { id: patch, changes }: PatchSet,
      { process, id, deadlineMs, signal }: Omit<Look, "tool" | "args" | "scope">,
    ): Promise<void> {
      const { scopes } = resolveChanges(parts, changes, process);
      await parts.host.call({
        ...{ id, tool: UNDO, deadlineMs, bytes: 65_536, key: patch },
        ...{ colour: process.colour, label: process.label },
        args: { patch, changes: changes.map(changeJson), [CHECK]: true },
      }, { pid: process.pid, scopes: applyingScopes(scopes), writable: false, signal, deadlineMs });
    },
    undoCall: (patch: Digest, options?: UndoOptions) =>
      makeUndoCall(
        { host: parts.host, executes: parts.executes, applied: ledger.applied() },
        patch,
        options,
      ),
    putBackCall(patch: Digest, paths: readonly string[]): UndoCall | undefined {
      const changes = ledger.staged().filter(({ path }) => paths.includes(path));
      if (patchDigest(changes) !== patch) return undefined;
      const applied = [{ patch, changes, made: [] }];
      const { host, executes } = parts;
      return makeUndoCall({ host, executes, applied, torn: true }, patch);
    },
  });
}

/** The call as the host receives it: exactly the approved changes, not what is staged now. */
function withPatch(call: GrantedCall): GrantedCall {
  const { changes = [], digests } = call.resolved;
  const patch = digests["patch"];
  if (patch === undefined || patchDigest(changes) !== patch) {
    throw new Fault("refused", "Cannot apply a patch: it is not the one that was decided");
  }
  return { ...call, args: { patch, changes: changes.map(changeJson) } };
}

function resultOf(
  parts: WorkspaceParts,
  call: GrantedCall,
  { answer, sanitized }: {
    readonly answer: HostCallAnswer;
    readonly sanitized: SanitizedContents | undefined;
  },
): PowerResult {
  const { staged: _staged, unstaged: _unstaged, ...rest } = answer;
  const record = recordOf(parts, call, answer);
  return {
    ...rest,
    ...(record === undefined ? {} : {
      record: { ...record, ...(sanitized === undefined ? {} : { sanitized: toJson(sanitized) }) },
    }),
  };
}

/**
 * The colours of a patch's new contents after a person's approval: a content that was shown whole
 * gets the colour of the folder that it enters. What a diff leaves out of a changed file keeps its
 * colour. Labels stay. docs/decision/0038.
 */
function sanitizedBy(
  { tool, sanitized, resolved: { changes = [] } }: GrantedCall,
  { mounts, taints, contents }: {
    readonly mounts: ReadonlyMap<string, Mount>;
    readonly taints: Taints;
    readonly contents: ContentLookup;
  },
): SanitizedContents | undefined {
  if (tool !== "patch_apply" || sanitized === undefined) return undefined;
  const seen = new Set(sanitized.contents);
  const found = changes.flatMap(({ path, base, next, colour: from }) => {
    const named = parsePath(path), mount = mounts.get(named.mount);
    if (next === undefined || mount === undefined || !seen.has(next)) return [];
    const before = base === undefined ? "BLUE" : contents.of([base]).colour;
    const to = mixColour(taints.ofPath(mount, named.parts).colour, before);
    return mixColour(from, to) === to ? [] : [{ path, digest: next, from, to }];
  });
  if (found.length === 0) return undefined;
  const { by, question } = sanitized;
  return { by, question, contents: found };
}

function madeBy(answer: HostCallAnswer): readonly string[] {
  const value = answer.value;
  const made = value !== null && typeof value === "object" && "made" in value ? value["made"] : [];
  return Array.isArray(made) ? made.filter((path) => typeof path === "string") : [];
}

function recordOf(
  parts: WorkspaceParts,
  call: GrantedCall,
  answer: HostCallAnswer,
): JsonObject | undefined {
  const staged = (answer.staged ?? []).map(changeJson);
  const made = madeBy(answer);
  switch (call.tool as string) {
    case "patch_apply": {
      const { changes = [], digests } = call.resolved;
      const patch = Digest.parse(digests["patch"]);
      return { applied: { patch, changes: changes.map(changeJson), made } };
    }
    case "scratch_write":
      return { scratch: staged };
    case "outbox_publish":
      return { artifact: artifactOf(parts, call, answer) };
    default: {
      const changes = answer.staged ?? [];
      if (call.resolved.effect === "mutateLocal") {
        if (changes.length === 0) return undefined;
        return { applied: { patch: patchDigest(changes), changes: staged, made } };
      }
      const unstaged = answer.unstaged ?? [];
      if (staged.length + unstaged.length === 0) return undefined;
      return { staged, unstaged };
    }
  }
}

function artifactOf(
  parts: WorkspaceParts,
  call: GrantedCall,
  answer: HostCallAnswer,
): JsonObject {
  const named = call.args["name"];
  const path = parsePath(String(call.args["path"]));
  const value = answer.value !== null && typeof answer.value === "object" ? answer.value : {};
  const now = parts.powers.now();
  return Artifact.parse({
    id: ArtifactId.parse(parts.powers.id("a")),
    task: parts.task,
    name: typeof named === "string" ? named : path.parts.at(-1) ?? path.mount,
    digest: "digest" in value ? value["digest"] : undefined,
    bytes: "bytes" in value ? value["bytes"] : undefined,
    colour: mixColour(answer.colour, call.resolved.colour ?? answer.colour),
    label: mixLabel(answer.label, call.resolved.label ?? answer.label),
    state: "quarantined",
    createdAt: now,
    expiresAt: now + ARTIFACT_TTL,
  });
}
