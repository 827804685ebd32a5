/** Steps 8 to 10 of the gate: commit, invoke with a single-use token, commit. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { ToolCall } from "../../contracts/model/chat.ts";
import type { GuardFlag } from "../../contracts/model/model_aux.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import { type EffectClass, mixColour, mixLabel } from "../../contracts/authority/colour.ts";
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

/** How long an effect that was told to stop may take to say what it did, milliseconds. */
const GRACE_MS = 5_000;

/** Effects that leave nothing behind unless their outcome is committed: one commit is enough. */
const ONE_COMMIT: ReadonlySet<EffectClass> = new Set(["read", "stage"]);

/** Does what was judged, and keeps what it needs to know of the calls that it does. */
interface Performer {
  perform(judged: Judged, call: ToolCall, signal: AbortSignal): Promise<ToolResult>;
  /** Appends events, before them the tools of the turn if the log does not have them yet. */
  append(process: ProcessRow, events: readonly NewEvent[]): Promise<void>;
  /** The outcome that this kernel committed under a key. */
  done(task: TaskId, key: Digest): ToolResult | undefined;
  /** Keys of this kernel's intents whose outcome could not be committed, or not yet. */
  open(task: TaskId): KeySet;
  forget(task: TaskId): void;
}

/** A call within this one waits for a person: this one is made anew when the answer is there. */
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
    // Before anything is waited for: the same arguments, proposed twice at once, go on once.
    if (judged.origins !== undefined) {
      const said = judged.origins.said(), { tool } = known;
      parts.provenance?.performed(process.task, { tool, said, key: read.key() });
    }
    // INVARIANT: calls at once in one place of a program are one call (test: "… five calls at once …").
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
      // It answers for the program's calls until the turn is over.
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
    // INVARIANT: a model is shown a result only if it may see that, too (test: "a flag makes a call …").
    const row = {
      ...process,
      colour: mixColour(process.colour, colour),
      label: mixLabel(process.label, label),
    };
    return await parts.flags?.(row, { stage: "afterTool", tool, text }, signal) ?? [];
  }

  /** Notes what a result holds, where values of it could leave the task. */
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

  /** INVARIANT: a link opens nothing that its target's own name would not (test: "… leads to …"). */
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

  /** The commit was a wait: what was taken back meanwhile stops the call before its effect. */
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
    // The process may have read something else while the intent was written.
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

/** How the work ended. */
export type Ran =
  | { readonly kind: "done"; readonly result: PowerResult }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "stopped"; readonly why: Fault };

/** What bounds the work. */
interface Bounds {
  readonly powers: Pick<Powers, "after">;
  readonly signal: AbortSignal;
  /** Milliseconds; absent when the work keeps its deadline itself. */
  readonly deadlineMs?: number;
  /**
   * Milliseconds that work which was told to stop may take to say what it did. An effect that
   * happened after all is then recorded as what it is.
   */
  readonly graceMs: number;
  /** Hands out the function that stops the work from outside. */
  onStart(stop: (why: Fault) => void): void;
}

/** Runs `start` within bounds. Resolves in any case, and once. */
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
    // A power that throws at once is one that rejects.
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
