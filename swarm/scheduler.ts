/**
 * The scheduler of a swarm: a deterministic program without a model. It moves each issue from a
 * worker to the checks, to reviewers, to the merge queue. Each event is in the journal before
 * anything depends on it, so that a killed scheduler continues where it was. Used by
 * cli/swarm/run_command.ts.
 * @module
 */
import type { ResourceRef } from "../contracts/task/resources.ts";
import type { Check } from "./checks.ts";
import { makeClaims } from "./claims.ts";
import type { SwarmEvent } from "./events.ts";
import { type IssueState, liveOf, type SwarmState } from "./journal.ts";
import { makeMergeQueue, passes, standing } from "./merge_queue.ts";
import { GivenUp, makeWorker, type WorkerParts } from "./workers.ts";

/** The parts of the scheduler. */
export interface SchedulerParts extends WorkerParts {
  readonly check: Check;
  /** The repository's name in the kernel's registry of shared resources. */
  readonly resource: ResourceRef;
  /** Makes an event durable; the scheduler folds it into the state first. */
  write(event: SwarmEvent): Promise<void>;
  take(state: SwarmState, event: SwarmEvent): void;
  /** Receives each event. */
  say(event: SwarmEvent): void;
}

/** Works until every issue is merged or given up, its minutes are over or `stop` aborts. Resolves with the final event. */
export async function runScheduler(
  parts: SchedulerParts,
  stop: AbortSignal,
): Promise<Extract<SwarmEvent, { kind: "finished" }>> {
  const { state, powers, say } = parts;
  const { plan } = state.begun;
  const { limits } = plan;
  const record = async (event: SwarmEvent): Promise<void> => {
    // INVARIANT: refused before it is written; nothing acts on it before it is durable
    // (test: what contradicts the journal is refused, whoever writes it).
    parts.take(state, event);
    await parts.write(event);
    say(event);
  };
  const over = new AbortController();
  const late = `its ${limits.minutes} minutes are over`;
  const lanes = new Map<string, Promise<void>>();
  const claims = makeClaims({
    ...{ state, powers, record, resource: parts.resource },
    ask: (body) => parts.tasks.resources(body),
  });
  const worker = makeWorker(parts, { record, claims });
  const merge = makeMergeQueue({ ...parts, record, now: powers.now });
  let broken: { readonly error: unknown } | undefined;

  const close = async (
    { issue }: IssueState,
    status: "failed" | "conflicted",
    why: string,
  ): Promise<void> =>
    await record({
      ...{ kind: "closed", at: powers.now(), issue: issue.id, status },
      why: why.slice(0, 8_000),
    });

  const lane = async (of: IssueState): Promise<void> => {
    try {
      // After a crash its claim may have expired.
      if (of.work !== undefined) await claims.take(of, of.work.attempt);
      while (of.status === "open" && !over.signal.aborted) {
        const going = liveOf(of);
        if (going !== undefined) await worker.go(of, going, over.signal);
        else if (of.work === undefined) {
          if (of.conflicts.length > 1) {
            return await close(of, "conflicted", of.handoffs.at(-1)?.why ?? "it conflicts");
          }
          const stage = plan.stages.find((each) => of.passed[each] === undefined);
          await worker.assign(of, stage ?? "author", over.signal);
        } else if (!await passes({ ...parts, record, now: powers.now }, of, of.work.tree)) continue;
        else if (of.approvals.length < plan.reviews) await worker.assign(of, "review", over.signal);
        else {
          const kept = await claims.settled(of, of.work.attempt, over.signal);
          if (kept !== undefined) return await close(of, "conflicted", kept);
          if (over.signal.aborted) return;
          await merge(of.issue.id);
          await claims.tellMerged(of);
        }
      }
    } catch (error) {
      if (!(error instanceof GivenUp)) throw error;
      await close(of, "failed", error.message);
    }
  };
  /** Releases the issue's claims in any case, so that no other issue waits for them. */
  const laneThenRelease = async (of: IssueState): Promise<void> => {
    try {
      await lane(of);
    } finally {
      await claims.release(of);
    }
  };

  const end = (): void => over.abort();
  stop.addEventListener("abort", end, { once: true });
  if (stop.aborted) end();
  const deadline = state.begun.at + limits.minutes * 60_000;
  try {
    // A scheduler that was killed may have moved the branch without a record of it. Who works on the branch begins with
    // what its authors had read, so the record comes first.
    if ([...state.issues.values()].some((of) => of.status === "open" && of.merging !== undefined)) {
      await standing({ ...parts, record, now: powers.now });
    }
    for (;;) {
      if (powers.now() >= deadline) end();
      if (!over.signal.aborted) {
        await closeOrphans(state, record, powers.now);
        await claims.renew();
        for (const of of await claims.free(readyIssues(state, new Set(lanes.keys())))) {
          const { id } = of.issue;
          lanes.set(
            id,
            laneThenRelease(of).catch((error: unknown) => {
              broken ??= { error };
              end();
            }).finally(() => lanes.delete(id)),
          );
        }
      }
      // An issue whose parts are claimed elsewhere, or without room in the registry, waits until the time is over.
      const rests = over.signal.aborted || readyIssues(state, new Set()).length === 0;
      if (lanes.size === 0 && rests) break;
      const waking = new AbortController();
      await Promise.race([...lanes.values(), powers.rest(1_000, waking.signal)]);
      waking.abort();
    }
  } finally {
    stop.removeEventListener("abort", end);
  }
  if (broken !== undefined) throw broken.error;
  const all = [...state.issues.values()];
  const isOpen = ({ status }: IssueState): boolean => status === "open";
  // The time is over: unmerged issues fail, and the merged ones go to the person.
  const isLate = !stop.aborted && all.some(isOpen);
  if (isLate) {
    if (all.some((of) => isOpen(of) && of.merging !== undefined)) {
      await standing({ ...parts, record, now: powers.now });
    }
    await Promise.all(
      all.filter(isOpen).map(async (of) => {
        // A task that an earlier command started may still run.
        const going = liveOf(of);
        if (going?.task !== undefined) await worker.go(of, going, over.signal);
        await close(of, "failed", late);
        await claims.release(of);
      }),
    );
  }
  const merged = all.filter(({ status }) => status === "merged").length;
  const open = all.some(isOpen);
  const count = `${merged} of ${all.length} changes are merged`;
  const why = open ? "its person stopped it" : isLate ? `${late}: ${count}` : count;
  const finished = {
    ...{ kind: "finished", at: powers.now(), why } as const,
    status: open
      ? "stopped" as const
      : merged === all.length
      ? "done" as const
      : merged > 0
      ? "partly" as const
      : "failed" as const,
  };
  await record(finished);
  return finished;
}

/** Open issues whose dependencies are merged; those started before a crash come first. */
function readyIssues(state: SwarmState, busy: ReadonlySet<string>): readonly IssueState[] {
  return [...state.issues.values()].filter(({ issue, status }) =>
    status === "open" && !busy.has(issue.id) &&
    issue.after.every((name) => state.issues.get(name)?.status === "merged")
  ).toSorted((a, b) => Number(b.attempts.length > 0) - Number(a.attempts.length > 0));
}

/** Gives up issues that wait for an issue that will never be merged. */
async function closeOrphans(
  state: SwarmState,
  record: (event: SwarmEvent) => Promise<void>,
  now: () => number,
): Promise<void> {
  for (let found = true; found;) {
    found = false;
    for (const { issue, status } of state.issues.values()) {
      if (status !== "open") continue;
      const lost = issue.after.find((name) => {
        const other = state.issues.get(name)?.status;
        return other !== "open" && other !== "merged";
      });
      if (lost === undefined) continue;
      const why = `it waits for "${lost}", which came to nothing`;
      await record({ kind: "closed", at: now(), issue: issue.id, status: "failed", why });
      found = true;
    }
  }
}
