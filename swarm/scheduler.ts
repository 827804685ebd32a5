/**
 * The scheduler of a swarm: a deterministic program without a model. Each issue goes from a worker to the checks, to
 * reviewers, to the merge queue; what happens is in the journal before anything comes of it, so that a scheduler that
 * was killed goes on where it was.
 * @module
 */
import { Fault, unreachable } from "../contracts/base/mod.ts";
import { type Check } from "./checks.ts";
import {
  type Attempt,
  type IssueState,
  liveOf,
  type Outcome,
  spentOf,
  type SwarmEvent,
  type SwarmState,
} from "./journal.ts";
import { makeMergeQueue, passes } from "./merge_queue.ts";
import type { FileChange, Mirror } from "./mirror.ts";
import { overlaps } from "./plan.ts";
import { reviewRequest, workRequest } from "./requests.ts";
import { parseReview } from "./review_words.ts";
import type { SwarmHands } from "./swarm_powers.ts";
import { chooseByRecord, type TrackRow } from "./track_record.ts";
import { badPath } from "./tree_files.ts";

/** One task that is asked for. */
export interface TaskAsk {
  /** The kernel makes one task of it, however often it is asked. */
  readonly session: string;
  readonly swarm: string;
  readonly work: "author" | "review";
  readonly request: string;
  readonly role: string;
  readonly model: string;
  readonly mount: string;
  /** The private folder that it works in. */
  readonly folder: string;
}

/** How a task ended. */
export interface TaskEnd {
  readonly status: "done" | "failed" | "cancelled" | "expired" | "gone";
  readonly answer: string;
  readonly reason: string;
  /** US dollars. */
  readonly money: number;
}

/** One file that a task staged. */
export interface StagedFile {
  /** Within the mount. */
  readonly path: string;
  /** sha256 of what it was made from; absent: the file is new. */
  readonly base?: string;
  /** Size of what comes; absent: it is deleted. */
  readonly bytes?: number;
  readonly executable?: boolean;
  /** Throws Fault `refused` for content that is not what its digest says. */
  read(): Uint8Array;
}

/** The kernel's tasks, as a scheduler uses them. */
export interface SwarmTasks {
  start(ask: TaskAsk): Promise<string>;
  /** Resolves when the task is over, or `signal` aborts: then the task goes on, and undefined comes. */
  follow(task: string, signal: AbortSignal): Promise<TaskEnd | undefined>;
  cancel(task: string): Promise<void>;
  staged(task: string): Promise<readonly StagedFile[]>;
  /** The model's provider, as it is recorded. */
  provider(model: string): string;
}

/** What the scheduler works with. */
export interface SchedulerParts {
  readonly state: SwarmState;
  readonly mirror: Mirror;
  readonly check: Check;
  readonly tasks: SwarmTasks;
  readonly hands: Pick<SwarmHands, "plant" | "clear" | "now" | "rest">;
  /** A private folder for trees; what lies in it is the swarm's. */
  readonly rooms: string;
  /** How models did in earlier swarms. */
  readonly record: readonly TrackRow[];
  /** Makes an event durable; the scheduler takes it into the state first. */
  write(event: SwarmEvent): Promise<void>;
  take(state: SwarmState, event: SwarmEvent): void;
  sessionOf(attempt: number): string;
  sha256(bytes: Uint8Array): string;
  /** Hears of each event. */
  say(event: SwarmEvent): void;
}

/** Why an issue is given up at once. */
class GivenUp extends Error {}

/** Works until every issue is merged or given up, or `stop` aborts. Gives how it came out. */
export async function runScheduler(
  parts: SchedulerParts,
  stop: AbortSignal,
): Promise<Extract<SwarmEvent, { kind: "finished" }>> {
  const { state, hands, say } = parts;
  const { plan } = state.begun;
  const { limits } = plan;
  const record = async (event: SwarmEvent): Promise<void> => {
    // INVARIANT: refused before it is written; nothing acts on it before it is durable (test: journal_test.ts).
    parts.take(state, event);
    await parts.write(event);
    say(event);
  };
  const over = new AbortController();
  const late = `its ${limits.minutes} minutes are over`;
  const lanes = new Map<string, Promise<void>>();
  const worker = makeWorker(parts, record);
  const merge = makeMergeQueue({ ...parts, record, now: hands.now });
  let broken: { readonly error: unknown } | undefined;

  const lane = async (of: IssueState): Promise<void> => {
    const closed = async (status: "failed" | "conflicted", why: string): Promise<void> =>
      await record({
        ...{ kind: "closed", at: hands.now(), issue: of.issue.id, status },
        why: why.slice(0, 8_000),
      });
    try {
      while (of.status === "open" && !over.signal.aborted) {
        const going = liveOf(of);
        if (going !== undefined) await worker.go(of, going, over.signal);
        else if (of.work === undefined) {
          if (of.conflicts.length > 1) {
            return await closed("conflicted", of.handoffs.at(-1)?.why ?? "it conflicts");
          }
          await worker.assign(of, "author", over.signal);
        } else if (!await passes({ ...parts, record, now: hands.now }, of, of.work.tree)) continue;
        else if (of.approvals.length < plan.reviews) await worker.assign(of, "review", over.signal);
        else await merge(of.issue.id);
      }
    } catch (error) {
      if (!(error instanceof GivenUp)) throw error;
      await closed("failed", error.message);
    }
  };

  const end = (): void => over.abort();
  stop.addEventListener("abort", end, { once: true });
  if (stop.aborted) end();
  const deadline = state.begun.at + limits.minutes * 60_000;
  try {
    for (;;) {
      if (hands.now() >= deadline) end();
      if (!over.signal.aborted) {
        await closeOrphans(state, record, hands.now);
        for (const of of readyIssues(state, new Set(lanes.keys()))) {
          const { id } = of.issue;
          lanes.set(
            id,
            lane(of).catch((error: unknown) => {
              broken ??= { error };
              end();
            }).finally(() => lanes.delete(id)),
          );
        }
      }
      if (lanes.size === 0) break;
      const waking = new AbortController();
      await Promise.race([...lanes.values(), hands.rest(1_000, waking.signal)]);
      waking.abort();
    }
  } finally {
    stop.removeEventListener("abort", end);
  }
  if (broken !== undefined) throw broken.error;
  const all = [...state.issues.values()];
  const merged = all.filter(({ status }) => status === "merged").length;
  const open = all.some(({ status }) => status === "open");
  const why = open
    ? stop.aborted ? "its person stopped it" : late
    : `${merged} of ${all.length} changes are merged`;
  const finished = {
    ...{ kind: "finished", at: hands.now(), why } as const,
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

/** Issues that may be worked on now: what they wait for is merged, and nobody else works on what they claim. */
function readyIssues(state: SwarmState, busy: ReadonlySet<string>): readonly IssueState[] {
  const all = [...state.issues.values()];
  const claimed = all.filter(({ issue, attempts, status }) =>
    busy.has(issue.id) || (status === "open" && attempts.some(({ ended }) => ended === undefined))
  );
  const ready: IssueState[] = [];
  // Who was at work before a crash keeps the claim.
  const order = all.toSorted((a, b) =>
    Number(b.attempts.length > 0) - Number(a.attempts.length > 0)
  );
  for (const of of order) {
    const { issue, status } = of;
    if (status !== "open" || busy.has(issue.id)) continue;
    if (!issue.after.every((name) => state.issues.get(name)?.status === "merged")) continue;
    const others = [...claimed, ...ready].filter((each) => each !== of);
    if (others.some((each) => overlaps(each.issue.paths, issue.paths))) continue;
    ready.push(of);
  }
  return ready;
}

/** An issue that waits for one that will never be merged is given up with it. */
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

interface Worker {
  /** Assigns the next task of an issue, and follows it. Throws GivenUp where no more are allowed. */
  assign(of: IssueState, work: "author" | "review", stop: AbortSignal): Promise<void>;
  /** Goes on with a task that is assigned. */
  go(of: IssueState, attempt: Attempt, stop: AbortSignal): Promise<void>;
}

function makeWorker(
  parts: SchedulerParts,
  record: (event: SwarmEvent) => Promise<void>,
): Worker {
  const { state, mirror, tasks, hands, rooms } = parts;
  const { plan, mount } = state.begun;
  const { limits } = plan;
  let busy = 0;
  const waiting: (() => void)[] = [];

  /** Waits for a place and for money, and takes both; false when it is over. */
  const place = async (stop: AbortSignal): Promise<boolean> => {
    for (;;) {
      if (stop.aborted) return false;
      // Of each task under way all that it may cost is spoken for.
      const room = spentOf(state) + (busy + 1) * limits.taskMoney <= limits.money;
      if (busy < limits.workers && room) {
        busy += 1;
        return true;
      }
      if (!room && busy === 0) {
        throw new GivenUp(
          `the swarm has spent ${
            spentOf(state).toFixed(4)
          } USD of ${limits.money}: another task may cost ${limits.taskMoney}`,
        );
      }
      const wake = Promise.withResolvers<void>();
      waiting.push(wake.resolve);
      await Promise.race([wake.promise, hands.rest(1_000, stop)]);
    }
  };
  const leave = (): void => {
    busy -= 1;
    waiting.shift()?.();
  };

  const modelOf = (of: IssueState, work: "author" | "review", role: string): string => {
    const models = plan.roles[role]?.models ?? [""];
    const author = of.work?.attempt.provider;
    const allowed = work === "review" && plan.otherProvider
      ? models.filter((model) => tasks.provider(model) !== author)
      : models;
    if (allowed.length === 0) {
      throw new GivenUp(`every model of the role "${role}" is of the author's provider, ${author}`);
    }
    const tried = of.attempts.filter((each) => each.role === role).map(({ model }) => model);
    return chooseByRecord(allowed, role, parts.record, tried);
  };

  const follow = async (of: IssueState, attempt: Attempt, stop: AbortSignal): Promise<void> => {
    const folder = `${rooms}/a${attempt.n}`;
    if (attempt.task === undefined) {
      const { files } = await mirror.tree(attempt.from);
      await hands.plant(folder, mirror.planted(files));
      const { session, work, role, model } = attempt;
      const task = await tasks.start({
        ...{ session, swarm: state.id, work, role, model, mount, folder },
        request: work === "author"
          ? workRequest(of, mount, plan)
          : await requestOfReview(of, attempt),
      });
      await record({ kind: "started", at: hands.now(), attempt: attempt.n, task });
    }
    const { outcome, money } = await outcomeOf(of, attempt, stop);
    await record({ kind: "ended", at: hands.now(), attempt: attempt.n, outcome, money });
    await hands.clear(folder);
  };

  const requestOfReview = async (of: IssueState, { from }: Attempt): Promise<string> =>
    reviewRequest(of, {
      ...{ mount, plan },
      diff: await mirror.diff(of.work?.attempt.from ?? state.begun.base, from),
      checked: state.checks.get(of.work?.tree ?? "")?.said ?? "",
    });

  const outcomeOf = async (
    of: IssueState,
    attempt: Attempt,
    stop: AbortSignal,
  ): Promise<{ readonly outcome: Outcome; readonly money: number }> => {
    const task = attempt.task ?? "";
    const limit = new AbortController();
    const cancel = (): void => limit.abort();
    stop.addEventListener("abort", cancel, { once: true });
    if (stop.aborted) cancel();
    const left = attempt.at + limits.taskMinutes * 60_000 - hands.now();
    const resting = new AbortController();
    void hands.rest(Math.max(0, left), resting.signal).then(() => {
      if (!resting.signal.aborted) cancel();
    });
    try {
      const ended = await tasks.follow(task, limit.signal);
      if (ended === undefined) {
        await tasks.cancel(task);
        // What it cost is known once it has ended.
        const soon = new AbortController();
        void hands.rest(ENDING_MS, resting.signal).then(() => soon.abort());
        const { money = 0 } = await tasks.follow(task, soon.signal) ?? {};
        const reason = stop.aborted ? "cancelled" as const : "timedOut" as const;
        const why = stop.aborted
          ? "the swarm was stopped"
          : `it took longer than ${limits.taskMinutes} minutes`;
        return { money, outcome: { kind: "nothing", reason, why, said: "" } };
      }
      return { money: ended.money, outcome: await judge(of, attempt, ended) };
    } finally {
      stop.removeEventListener("abort", cancel);
      resting.abort();
    }
  };

  /** What a task that is over came to: by what it left, never by what it says of itself. */
  const judge = async (of: IssueState, attempt: Attempt, ended: TaskEnd): Promise<Outcome> => {
    const said = ended.answer.slice(0, 8_000);
    const nothing = (
      reason: Extract<Outcome, { kind: "nothing" }>["reason"],
      why: string,
    ): Outcome => ({
      ...{ kind: "nothing", reason, said },
      why: why.slice(0, 8_000),
    });
    if (ended.status !== "done") {
      return nothing(
        "failed",
        `its task is ${ended.status}${ended.reason === "" ? "" : `: ${ended.reason}`}`,
      );
    }
    const staged = await tasks.staged(attempt.task ?? "");
    switch (attempt.work) {
      case "review": {
        if (staged.length > 0) return nothing("refused", "a reviewer changed files");
        const review = parseReview(ended.answer);
        if ("misfit" in review) {
          return nothing("misfit", `its review does not fit: ${review.misfit}`);
        }
        return { kind: review.verdict === "approve" ? "approved" : "rejected", review };
      }
      case "author": {
        if (staged.length === 0) return nothing("empty", "it ended, and changed nothing");
        try {
          return await patchOf(parts, of, { attempt, staged, said });
        } catch (error) {
          if (!(error instanceof Fault) || error.code !== "refused") throw error;
          return nothing("refused", error.message);
        }
      }
      default:
        return unreachable(attempt.work);
    }
  };

  const assign = async (
    of: IssueState,
    work: "author" | "review",
    stop: AbortSignal,
  ): Promise<void> => {
    const { id, role: own } = of.issue;
    const tries =
      of.attempts.filter((each) =>
        work === "author"
          ? each.work === "author" && counts(each)
          : each.work === "review" && each.from === of.work?.commit && fell(each)
      ).length;
    if (tries >= limits.attempts) {
      const last = of.attempts.at(-1)?.ended?.outcome;
      throw new GivenUp(
        work === "author"
          ? `${tries} workers tried; the last: ${of.handoffs.at(-1)?.why ?? "no change stood"}`
          : `${tries} reviewers came to no verdict; the last: ${
            last?.kind === "nothing" ? last.why : ""
          }`,
      );
    }
    const role = work === "author" ? own ?? plan.author : plan.reviewer;
    const model = modelOf(of, work, role);
    if (!await place(stop)) return;
    try {
      const from = work === "author" ? await mirror.tip() : of.work?.commit ?? "";
      if (state.attempts.length >= limits.tasks) {
        throw new GivenUp(`the swarm has started ${limits.tasks} tasks, all that its limits allow`);
      }
      const n = state.attempts.length + 1;
      await record({
        ...{ kind: "assigned", at: hands.now(), attempt: n, issue: id, work, role, model, from },
        ...{ provider: tasks.provider(model), session: parts.sessionOf(n) },
      });
      const attempt = of.attempts.at(-1);
      if (attempt !== undefined) await follow(of, attempt, stop);
    } finally {
      leave();
    }
  };

  return Object.freeze<Worker>({
    assign,
    async go(of, attempt, stop): Promise<void> {
      // It has its place since before the crash.
      busy += 1;
      try {
        await follow(of, attempt, stop);
      } finally {
        leave();
      }
    },
  });
}

/** Milliseconds in which a task that is cancelled has ended. */
const ENDING_MS = 30_000;

/** A task that was stopped by its person is no try. */
function counts({ ended }: Attempt): boolean {
  return !(ended?.outcome.kind === "nothing" && ended.outcome.reason === "cancelled");
}

/** A reviewer who came to no verdict. */
function fell(attempt: Attempt): boolean {
  return attempt.ended?.outcome.kind === "nothing" && counts(attempt);
}

/** A worker's change as a commit. @throws Fault `refused` for a change that no swarm takes */
async function patchOf(
  { state, mirror, sha256 }: Pick<SchedulerParts, "state" | "mirror" | "sha256">,
  of: IssueState,
  { attempt, staged, said }: {
    readonly attempt: Attempt;
    readonly staged: readonly StagedFile[];
    readonly said: string;
  },
): Promise<Outcome> {
  const { limits } = state.begun.plan;
  const refuse = (why: string): Fault => new Fault("refused", `Cannot take the change: ${why}`);
  const bytes = staged.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
  if (staged.length > limits.changedFiles || bytes > limits.changedBytes) {
    throw refuse(
      `${staged.length} files of ${bytes} bytes; at most ${limits.changedFiles} of ${limits.changedBytes}`,
    );
  }
  const known = new Map((await mirror.tree(attempt.from)).files.map((file) => [file.path, file]));
  const before = await mirror.blobs(
    staged.flatMap(({ path }) => known.get(path)?.blob ?? []),
  );
  const contents = new Map(
    staged.filter(({ path }) => known.has(path)).map(({ path }, at) => [path, before[at]]),
  );
  const changes: FileChange[] = [];
  for (const file of staged) {
    const { path, base, executable } = file;
    const bad = badPath(path);
    if (bad !== undefined) throw refuse(`${JSON.stringify(path.slice(0, 200))}: ${bad}`);
    const old = contents.get(path);
    // A change is one of the tree that its worker was handed, and of nothing else.
    if ((old === undefined ? undefined : sha256(old)) !== base) {
      throw refuse(
        `${JSON.stringify(path)} was made from another version than the worker was handed`,
      );
    }
    const next = file.bytes === undefined ? undefined : file.read();
    if (old !== undefined && next !== undefined && sameBytes(old, next)) continue;
    changes.push({
      path,
      ...(next === undefined ? {} : { bytes: next }),
      ...(executable === true ? { executable } : {}),
    });
  }
  if (changes.length === 0) {
    return {
      kind: "nothing",
      reason: "empty",
      why: "its change leaves every file as it was",
      said,
    };
  }
  const { commit, tree } = await mirror.commit(attempt.from, {
    changes,
    ref: `refs/remit/attempt/${attempt.n}`,
    message: `${of.issue.id}: attempt ${attempt.n}`,
    at: attempt.at,
  });
  return { kind: "patch", commit, tree, paths: changes.map(({ path }) => path), said };
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
