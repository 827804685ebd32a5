/** Steps 8 to 10 of the gate: commit, invoke with a single-use token, commit. Used by gate.ts. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { ToolCall } from "../../contracts/model/chat.ts";
import type { GuardFlag } from "../../contracts/model/model_aux.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import { type EffectClass, mixTaints } from "../../contracts/authority/colour.ts";
import type { NewEvent } from "../../contracts/task/event.ts";
import type { Digest, LeaseId, TaskId } from "../../contracts/authority/ids.ts";
import type { GrantedCall, PowerResult } from "../../contracts/task/power.ts";
import type { Powers, ProcessRow } from "../../contracts/task/process.ts";
import type { DocumentWrite } from "../../contracts/task/store.ts";
import { isImported, type ToolResult } from "../../contracts/tool/tool.ts";
import { descriptorsEvent, intentEvent, outcomeEvent, planEvent } from "./events.ts";
import { type GateParts, type Judged, type KeySet, quoted, type Read } from "./parts.ts";
import { type EndedWith, endOf, withMeanwhile } from "./result.ts";
import { heldAuthority } from "./step_authority.ts";
import { flowOf } from "./step_flow.ts";
import { rulingOf } from "./step_mode.ts";

/** Milliseconds that an effect has to report its result after it was told to stop. */
const GRACE_MS = 5_000;

/** Effects without consequence until their outcome is committed: intent and outcome share one commit. */
const ONE_COMMIT: ReadonlySet<EffectClass> = new Set(["read", "stage"]);

/** Performs judged calls and keeps their outcomes and open intents. */
interface Performer {
  perform(judged: Judged, call: ToolCall, signal: AbortSignal): Promise<ToolResult>;
  /** Appends events, preceded by the turn's tools if the log does not have them yet. */
  append(process: ProcessRow, events: readonly NewEvent[]): Promise<void>;
  /** The outcome that this kernel committed for an idempotency key. */
  done(task: TaskId, key: Digest): ToolResult | undefined;
  /** Keys of this kernel's intents without a committed outcome. */
  open(task: TaskId): KeySet;
  forget(task: TaskId): void;
}

/** Whether a nested call waits for a person; then this call is repeated once the answer is there. */
function waits(error: unknown): boolean {
  return error instanceof Fault && error.code === "needsApproval";
}

const NO_KEYS: KeySet = new Set();

interface TaskNotes {
  readonly snapshots: Set<string>;
  readonly done: Map<Digest, ToolResult>;
  readonly open: Set<string>;
}

/** Makes the performer of a gate. */
export function makePerformer(parts: GateParts): Performer {
  const { powers, log, tokens } = parts;
  const tasks = new Map<TaskId, TaskNotes>();
  const flights = new Set<{ leases: readonly LeaseId[]; stop(why: Fault): void }>();

  parts.leases.onEnd((lease, why) => {
    const code = why === "revoked" ? "leaseRevoked" : "leaseExpired";
    for (const flight of flights) {
      if (!flight.leases.includes(lease.id)) continue;
      flight.stop(new Fault(code, `Cannot finish the call: its lease was ${why}`));
    }
  });

  function notesOf(task: TaskId): TaskNotes {
    const notes = tasks.get(task) ?? { snapshots: new Set(), done: new Map(), open: new Set() };
    tasks.set(task, notes);
    return notes;
  }

  async function append(
    process: ProcessRow,
    events: readonly NewEvent[],
    documents: readonly DocumentWrite[] = [],
  ): Promise<void> {
    const { snapshots } = notesOf(process.task);
    const snapshot = process.snapshot?.id;
    const known = snapshot === undefined || snapshots.has(snapshot);
    const all = known ? events : [descriptorsEvent(process), ...events];
    await log.append(process.task, all, documents);
    if (snapshot !== undefined) snapshots.add(snapshot);
  }

  async function perform(
    judged: Judged,
    call: ToolCall,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const { known, read, grant, decision } = judged, { process } = known;
    const notes = notesOf(process.task);
    const at = powers.now(), salt = powers.token();
    const single = ONE_COMMIT.has(decision.effect);
    parts.processes.charge(process.pid, { call: decision.effect });
    // Before the first await, so that equal arguments proposed twice at once are allowed unasked only once.
    if (judged.origins !== undefined) {
      const said = judged.origins.said(), { tool } = known;
      parts.provenance?.performed(process.task, { tool, said, key: read.key() });
    }
    // INVARIANT: simultaneous calls from one site of a program count as one call (test: "… five calls at once …").
    if (!single) {
      parts.plans?.made({ process, callId: known.callId, argumentsHash: read.argumentsHash });
    }
    if (grant !== undefined) parts.questions.grants.use(grant.question);
    const granted = grantOf(judged);
    const intent = intentEvent(judged, call, salt);

    if (!single) {
      try {
        await parts.cover?.(granted);
        powers.reach("beforeIntent");
        await append(process, [intent]);
        powers.reach("afterIntent");
      } catch (error) {
        tokens.end(granted.token);
        if (grant !== undefined) parts.questions.grants.restore(grant);
        throw error;
      }
      notes.open.add(read.key());
    }
    const ran = await run(judged, granted, signal);
    tokens.end(granted.token);
    const meanwhile = await known.binding.meanwhile?.(granted);
    if (ran.kind === "failed" && waits(ran.error)) {
      meanwhile?.dropped();
      throw ran.error;
    }
    const flags = ran.kind === "done" ? await flagsAfter(judged, ran.result, signal) : [];
    const ended = withMeanwhile(parts, judged, endOf(parts, judged, ran, flags), meanwhile);

    const { result, came } = ended;
    if (came === undefined) meanwhile?.dropped();
    const heard = heardOf(judged, ended);
    const outcome = outcomeEvent(judged, result, { ...ended, salt, ms: powers.now() - at, heard });
    const plan = result.outcome === "ok" ? read.resolved.plan : undefined;
    const taken = plan === undefined ? [] : [planEvent(judged, plan)];
    const events = [outcome, ...taken, ...came?.events ?? []];
    powers.reach("beforeOutcome");
    try {
      await append(process, single ? [intent, ...events] : events, came?.documents);
    } catch (error) {
      came?.dropped();
      throw error;
    }
    came?.kept();
    powers.reach("afterOutcome");
    notes.open.delete(read.key());
    if (decision.effect !== "read") notes.done.set(read.key(), result);
    if (plan !== undefined) {
      parts.plans?.take(process.task, plan, grant?.question);
      // The answer covers the program's calls until the end of the turn.
      if (grant !== undefined) {
        const covers = `the ${plan.sites.length} calls of a program`;
        parts.questions.grants.restore({ ...grant, for: "turn", covers });
      }
    }
    settle(judged, granted, ended);
    return result;
  }

  async function flagsAfter(
    { known: { process, tool } }: Judged,
    { content: text, colour, label }: PowerResult,
    signal: AbortSignal,
  ): Promise<readonly GuardFlag[]> {
    // INVARIANT: a guard model sees a result only if its clearance covers the result, too (test: "a flag makes a call …").
    const row = { ...process, ...mixTaints(process, { colour, label }) };
    return await parts.flags?.(row, { stage: "afterTool", tool, text }, signal) ?? [];
  }

  /** Records the values in a result, where they could leave the task later. */
  function heardOf({ known }: Judged, { power, result }: EndedWith): JsonObject | undefined {
    const { process, binding: { descriptor: { interfaceId } }, callId: call, tool } = known;
    const { colour } = result;
    if (parts.provenance === undefined || power === undefined || colour === "BLUE") {
      return undefined;
    }
    if (process.snapshot?.tools.some(isImported) !== true) return undefined;
    const { content: text, records = [] } = power;
    const { redact } = parts;
    const heard = { call, tool, colour, interfaceId, text, records, redact };
    return parts.provenance.heard(process.task, heard);
  }

  function grantOf(judged: Judged): GrantedCall {
    const { known, read, decision, grant } = judged, { process, binding } = known;
    const { pid, conversation, turn, colour, label } = process;
    const deadlineMs = Math.min(binding.deadlineMs, process.limits.toolTimeoutMs);
    const token = tokens.mint({
      pid,
      conversation,
      turn,
      callId: known.callId,
      tool: known.tool,
      argumentsHash: read.argumentsHash,
      descriptor: decision.descriptor,
      colour,
      label,
      expiresAt: powers.now() + deadlineMs,
    });
    return {
      task: process.task,
      pid,
      callId: known.callId,
      tool: known.tool,
      args: read.args,
      resolved: read.resolved,
      token,
      idempotencyKey: read.key(),
      deadlineMs,
      resultBytes: parts.policy.resultBytes(known.tool) ?? binding.resultBytes,
      alsoReads: (path) => judgeAlso(judged, path),
      ...(grant === undefined || grant.sanitizes.length === 0 ? {} : {
        sanitized: {
          contents: grant.sanitizes,
          by: `${grant.by} (${grant.channel})`,
          question: grant.question,
        },
      }),
    };
  }

  /** INVARIANT: a link gives no access that its target's own path would not (test: "… leads to …"). */
  function judgeAlso({ known, read, decision }: Judged, path: string): void {
    const also: Read = {
      ...read,
      args: { ...read.args, path },
      resolved: { ...read.resolved, scopes: [{ resource: "mount", right: "read", path }] },
    };
    const { mode, rule } = rulingOf(known, also, { policy: parts.policy, effect: decision.effect });
    const authority = heldAuthority(parts, known, also);
    if (authority.kind === "refuse") throw new Fault("refused", authority.why);
    if (mode === "auto") return;
    throw new Fault(
      "refused",
      `Cannot call "${known.tool}": a link leads to ${
        quoted(path)
      }, and ${rule} says ${mode}: name that path`,
    );
  }

  /** Checks for changes during the commit, such as a revoked lease, then runs the call. */
  async function run(
    judged: Judged,
    granted: GrantedCall,
    signal: AbortSignal,
  ): ReturnType<typeof runBounded> {
    const { known, leases, decision } = judged;
    const flight = { leases, stop: (_why: Fault): void => {} };
    flights.add(flight);
    try {
      const changed = changedSince(judged);
      if (changed !== undefined) return { kind: "stopped", why: changed };
      return await runBounded((inner) => known.binding.invoke(granted, inner), {
        powers,
        signal,
        ...(known.binding.keepsDeadline ? {} : { deadlineMs: granted.deadlineMs }),
        graceMs: ONE_COMMIT.has(decision.effect) ? 0 : GRACE_MS,
        onStart: (stop) => {
          flight.stop = stop;
        },
      });
    } finally {
      flights.delete(flight);
    }
  }

  function changedSince(judged: Judged): Fault | undefined {
    const { known, read, leases, scope } = judged, { process } = known;
    const dead = leases.find((id) => !parts.leases.alive(id));
    if (dead !== undefined) {
      return new Fault("leaseRevoked", `Cannot start "${known.tool}": its lease has ended`);
    }
    if (process.status === "ended") {
      return new Fault("cancelled", `Cannot start "${known.tool}": its process has ended`);
    }
    // The process may have read something while the intent was written.
    const now = flowOf(known, read);
    if (now.colour !== scope.colour || now.label !== scope.label) {
      return new Fault("refused", `Cannot start "${known.tool}": what was read changed meanwhile`);
    }
    return undefined;
  }

  function settle(judged: Judged, granted: GrantedCall, ended: EndedWith): void {
    const { known } = judged, { result, power, sources } = ended;
    if (power !== undefined) known.binding.committed?.(granted, power);
    const { colour, label } = result;
    parts.processes.taint(granted.pid, { colour, label, sources });
    if (ended.bug !== undefined) throw ended.bug;
  }

  return Object.freeze({
    perform,
    append,
    done: (task: TaskId, key: Digest) => tasks.get(task)?.done.get(key),
    open: (task: TaskId) => tasks.get(task)?.open ?? NO_KEYS,
    forget: (task: TaskId) => void tasks.delete(task),
  });
}

/** The end of a power's work. */
export type Ran =
  | { readonly kind: "done"; readonly result: PowerResult }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "stopped"; readonly why: Fault };

/** Limits on a power's work. */
interface Bounds {
  readonly powers: Pick<Powers, "after">;
  readonly signal: AbortSignal;
  /** Milliseconds; absent if the work enforces its own deadline. */
  readonly deadlineMs?: number;
  /**
   * Milliseconds that stopped work has to report its result, so that an effect that happened after
   * all is recorded as such.
   */
  readonly graceMs: number;
  /** Receives the function that stops the work from outside. */
  onStart(stop: (why: Fault) => void): void;
}

/** Runs `start` within bounds. Always resolves. */
function runBounded(
  start: (signal: AbortSignal) => Promise<PowerResult>,
  bounds: Bounds,
): Promise<Ran> {
  const { powers, signal } = bounds;
  const { promise, resolve } = Promise.withResolvers<Ran>();
  const controller = new AbortController();
  let stopped: Fault | undefined;
  let cancelGrace = (): void => {};

  const stop = (why: Fault): void => {
    if (stopped !== undefined) return;
    stopped = why;
    controller.abort(why);
    const give = (): void => resolve({ kind: "stopped", why });
    if (bounds.graceMs === 0) give();
    else cancelGrace = powers.after(bounds.graceMs, give);
  };
  const cancel = (): void => stop(new Fault("cancelled", "Cannot finish the call: cancelled"));
  const { deadlineMs } = bounds;
  const cancelDeadline = deadlineMs === undefined ? () => {} : powers.after(
    deadlineMs,
    () => stop(new Fault("timedOut", `Cannot finish the call in ${deadlineMs} ms`)),
  );
  signal.addEventListener("abort", cancel, { once: true });
  bounds.onStart(stop);
  if (signal.aborted) cancel();

  if (stopped === undefined) {
    // The constructor turns a synchronous throw into a rejection.
    new Promise<PowerResult>((settle) => settle(start(controller.signal))).then(
      (result) => resolve({ kind: "done", result }),
      (error: unknown) =>
        resolve(
          stopped === undefined ? { kind: "failed", error } : { kind: "stopped", why: stopped },
        ),
    );
  } else resolve({ kind: "stopped", why: stopped });
  return promise.finally(() => {
    cancelDeadline();
    cancelGrace();
    signal.removeEventListener("abort", cancel);
  });
}
