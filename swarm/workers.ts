/** The tasks of a swarm: assignment, request, and outcome, judged by the files that a task left. @module */
import type { Colour, Label } from "../contracts/authority/mod.ts";
import { Fault, type Json, unreachable } from "../contracts/base/mod.ts";
import type { Claims } from "./claims.ts";
import type { Outcome, SwarmEvent } from "./events.ts";
import { type Attempt, type IssueState, readBefore, spentOf, type SwarmState } from "./journal.ts";
import type { Mirror } from "./mirror.ts";
import { patchOf, type StagedFile } from "./patch.ts";
import { passStage, type Stage, strayOf } from "./stages.ts";
import { parseReview, reviewRequest, stageRequest, workRequest } from "./words.ts";
import type { SwarmPowers } from "./swarm_powers.ts";
import { badPath } from "./tree_files.ts";
import { chooseByRecord, type TrackRow } from "./track_record.ts";

/** A request for one task. */
export interface TaskAsk {
  /** The kernel creates only one task for a session, even if asked repeatedly. */
  readonly session: string;
  readonly swarm: string;
  readonly work: Attempt["work"];
  readonly request: string;
  /** Whether the request contains text of an earlier task of the issue. */
  readonly heard: boolean;
  /** Highest label that the issue's earlier tasks, and the authors of changes in its tree, had read. */
  readonly label: Label;
  /** Lowest colour of the authors of changes in its tree. */
  readonly merged: Colour;
  readonly role: string;
  readonly model: string;
  readonly mount: string;
  /** Its private working folder. */
  readonly folder: string;
}

/** How a task ended. */
export interface TaskEnd {
  readonly status: "done" | "failed" | "cancelled" | "expired" | "gone";
  readonly answer: string;
  readonly reason: string;
  /** US dollars. */
  readonly money: number;
  /** Label and colour of what the task had read; absent if unknown. */
  readonly label?: Label;
  readonly colour?: Colour;
}

/** The kernel's tasks, for a scheduler. */
export interface SwarmTasks {
  start(ask: TaskAsk): Promise<string>;
  /** Resolves when the task ends; undefined if `signal` aborts, in which case the task continues. */
  follow(task: string, signal: AbortSignal): Promise<TaskEnd | undefined>;
  cancel(task: string): Promise<void>;
  /** The task's staged files; undefined if lost with the kernel that had them. */
  staged(task: string): Promise<readonly StagedFile[] | undefined>;
  /** The control operation `resources`. */
  resources(body: Json): Promise<Json>;
  /** The model's provider, for the journal. */
  provider(model: string): string;
}

/** The parts of {@link makeWorker}. */
export interface WorkerParts {
  readonly state: SwarmState;
  readonly mirror: Mirror;
  readonly tasks: SwarmTasks;
  readonly powers: Pick<SwarmPowers, "plant" | "clear" | "now" | "rest">;
  /** Private folder of the swarm for trees. */
  readonly rooms: string;
  /** Results of models in earlier swarms. */
  readonly record: readonly TrackRow[];
  sessionOf(attempt: number): string;
  sha256(bytes: Uint8Array): string;
}

/** Thrown when an issue must be given up. */
export class GivenUp extends Error {}

/** Assigns tasks, within the limits of the plan. */
export interface Worker {
  /** Assigns and follows the next task of an issue. Throws GivenUp if no more are allowed. */
  assign(of: IssueState, what: "author" | "review" | Stage, stop: AbortSignal): Promise<void>;
  /** Continues an assigned task. */
  go(of: IssueState, attempt: Attempt, stop: AbortSignal): Promise<void>;
}

/** Makes the worker; `record` makes an event durable and folds it into the state. */
export function makeWorker(
  parts: WorkerParts,
  { record, claims }: {
    readonly record: (event: SwarmEvent) => Promise<void>;
    readonly claims: Pick<Claims, "take" | "tellBegun">;
  },
): Worker {
  const { state, mirror, tasks, powers, rooms } = parts;
  const { plan, mount } = state.begun;
  const { limits } = plan;
  let busy = 0;
  const waiting: (() => void)[] = [];

  /** Waits for a free place and enough money, and takes both; false if aborted. */
  const place = async (stop: AbortSignal): Promise<boolean> => {
    for (;;) {
      if (stop.aborted) return false;
      // Each running task reserves its maximum cost.
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
      await Promise.race([wake.promise, powers.rest(1_000, stop)]);
    }
  };
  const leave = (): void => {
    busy -= 1;
    waiting.shift()?.();
  };

  const modelOf = (of: IssueState, work: Attempt["work"], role: string): string => {
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
    const begins = attempt.task === undefined;
    if (begins) {
      const { files } = await mirror.tree(attempt.from);
      await powers.plant(folder, mirror.planted(files));
      const { session, work, role, model } = attempt;
      const earlier = of.handoffs.at(-1);
      // For a stage, use only a handoff of the same stage.
      const tried = of.attempts.find(({ n }) => n === earlier?.attempt)?.stage;
      const last = tried === attempt.stage ? earlier : undefined;
      const task = await tasks.start({
        ...{ session, swarm: state.id, work, role, model, mount, folder },
        heard: work === "review" || last !== undefined || Object.keys(of.passed).length > 0,
        ...readBefore(state, of),
        request: work === "review"
          ? await requestOfReview(of, attempt)
          : attempt.stage === undefined
          ? workRequest(of.issue, { mount, plan, last, passed: of.passed })
          : stageRequest(of.issue, { mount, plan, passed: of.passed, last, stage: attempt.stage }),
      });
      await record({ kind: "started", at: powers.now(), attempt: attempt.n, task });
    }
    if (attempt.work === "author") {
      await claims.take(of, attempt);
      if (begins) await claims.tellBegun(of, attempt);
    }
    const { outcome: came, ...cost } = await outcomeOf(of, attempt, stop);
    const outcome = came.kind === "nothing" && attempt.work === "author"
      ? { ...came, left: await leftBy(attempt) }
      : came;
    await record({ kind: "ended", at: powers.now(), attempt: attempt.n, outcome, ...cost });
    // The task's open conflicts ended with it, but its change still needs the decision: claim again.
    if (outcome.kind === "patch") await claims.take(of, attempt);
    await powers.clear(folder);
  };

  /** Paths that an unfinished worker had staged, for its successor. */
  const leftBy = async ({ task = "" }: Attempt): Promise<string[]> => {
    try {
      return (await tasks.staged(task) ?? []).map(({ path }) => path).filter((path) =>
        badPath(path) === undefined
      ).slice(0, limits.changedFiles);
    } catch (error) {
      // The task is gone, or it staged files elsewhere.
      if (error instanceof Fault) return [];
      throw error;
    }
  };

  const requestOfReview = async (of: IssueState, { from }: Attempt): Promise<string> =>
    reviewRequest(of.issue, {
      ...{ mount, plan, passed: of.passed },
      diff: await mirror.diff(of.work?.attempt.from ?? state.begun.base, from),
      checked: state.checks.get(of.work?.tree ?? "")?.said ?? "",
    });

  const outcomeOf = async (
    of: IssueState,
    attempt: Attempt,
    stop: AbortSignal,
  ): Promise<{ readonly outcome: Outcome } & Cost> => {
    const task = attempt.task ?? "";
    const limit = new AbortController();
    const cancel = (): void => limit.abort();
    stop.addEventListener("abort", cancel, { once: true });
    if (stop.aborted) cancel();
    const left = attempt.at + limits.taskMinutes * 60_000 - powers.now();
    const resting = new AbortController();
    void powers.rest(Math.max(0, left), resting.signal).then(() => {
      if (!resting.signal.aborted) cancel();
    });
    try {
      const ended = await tasks.follow(task, limit.signal);
      if (ended === undefined) {
        await tasks.cancel(task);
        // Its cost is known only once it has ended.
        const soon = new AbortController();
        void powers.rest(ENDING_MS, resting.signal).then(() => soon.abort());
        const ended = await tasks.follow(task, soon.signal) ?? { money: 0 };
        const reason = stop.aborted ? "cancelled" as const : "timedOut" as const;
        const why = stop.aborted
          ? "the swarm was stopped"
          : `it took longer than ${limits.taskMinutes} minutes`;
        return { ...spent(ended), outcome: { kind: "nothing", reason, why, said: "" } };
      }
      return { ...spent(ended), outcome: await judge(of, attempt, ended) };
    } finally {
      stop.removeEventListener("abort", cancel);
      resting.abort();
    }
  };

  /** Judges an ended task by the files it left, never by its own claims. */
  const judge = async (of: IssueState, attempt: Attempt, ended: TaskEnd): Promise<Outcome> => {
    const said = ended.answer.slice(0, 8_000);
    const nothing = (
      reason: Extract<Outcome, { kind: "nothing" }>["reason"],
      why: string,
    ): Outcome => ({ kind: "nothing", reason, said, why: why.slice(0, 8_000) });
    if (ended.status !== "done") {
      return nothing(
        "failed",
        `its task is ${ended.status}${ended.reason === "" ? "" : `: ${ended.reason}`}`,
      );
    }
    const staged = await tasks.staged(attempt.task ?? "");
    if (staged === undefined) {
      return nothing(
        "failed",
        "the kernel that did it does not answer any more: what it staged is lost",
      );
    }
    switch (attempt.work) {
      case "review": {
        if (staged.length > 0) return nothing("refused", "a reviewer changed files");
        const review = parseReview(ended.answer);
        if ("misfit" in review) {
          return nothing("misfit", `its review does not fit: ${review.misfit}`);
        }
        return { kind: review.verdict === "approve" ? "approved" : "rejected", review };
      }
      case "stage": {
        if (staged.length > 0) return nothing("refused", "who settles a stage changes no file");
        const { files } = await mirror.tree(attempt.from);
        const { issue, passed } = of;
        const gate = { issue, passed, files: files.map(({ path }) => path) };
        const came = passStage(attempt.stage ?? "requirements", ended.answer, gate);
        return "document" in came
          ? { kind: "settled", document: came.document }
          : nothing("misfit", `its ${attempt.stage} does not pass: ${came.misfit}`);
      }
      case "author": {
        if (staged.length === 0) return nothing("empty", "it ended, and changed nothing");
        const stray = strayOf(of.passed, staged.map(({ path }) => path));
        if (stray !== undefined) return nothing("refused", `Cannot take the change: ${stray}`);
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
    what: "author" | "review" | Stage,
    stop: AbortSignal,
  ): Promise<void> => {
    const { id, role: own } = of.issue;
    const work = what === "author" || what === "review" ? what : "stage";
    const stage = what === "author" || what === "review" ? undefined : what;
    const tries =
      of.attempts.filter((each) =>
        work === "review"
          ? each.work === "review" && each.from === of.work?.commit && fell(each)
          : each.work === work && each.stage === stage && counts(each)
      ).length;
    if (tries >= limits.attempts) {
      const last = of.attempts.at(-1)?.ended?.outcome;
      throw new GivenUp(
        work !== "review"
          ? `${tries} workers tried${stage === undefined ? "" : ` the ${stage}`}; the last: ${
            of.handoffs.at(-1)?.why ?? "no change stood"
          }`
          : `${tries} reviewers came to no verdict; the last: ${
            last?.kind === "nothing" ? last.why : ""
          }`,
      );
    }
    const role = work === "review"
      ? plan.reviewer
      : work === "stage"
      ? plan.planner
      : own ?? plan.author;
    const model = modelOf(of, work, role);
    if (!await place(stop)) return;
    try {
      const from = work === "review" ? of.work?.commit ?? "" : await mirror.tip();
      if (state.attempts.length >= limits.tasks) {
        throw new GivenUp(`the swarm has started ${limits.tasks} tasks, all that its limits allow`);
      }
      const n = state.attempts.length + 1;
      await record({
        ...{ kind: "assigned", at: powers.now(), attempt: n, issue: id, work, role, model, from },
        ...(stage === undefined ? {} : { stage }),
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
      // The task had its place before the crash.
      busy += 1;
      try {
        await follow(of, attempt, stop);
      } finally {
        leave();
      }
    },
  });
}

/** Milliseconds to wait for a cancelled task to end. */
const ENDING_MS = 30_000;

/** Cost of a task, and label and colour of what it had read. */
type Cost = Pick<TaskEnd, "money" | "label" | "colour">;
function spent({ money, label, colour }: Cost): Cost {
  return {
    money,
    ...(label === undefined ? {} : { label }),
    ...(colour === undefined ? {} : { colour }),
  };
}

/** Whether an attempt counts; a task stopped by the person does not. */
function counts({ ended }: Attempt): boolean {
  return !(ended?.outcome.kind === "nothing" && ended.outcome.reason === "cancelled");
}

/** Whether a review ended without a verdict. */
function fell(attempt: Attempt): boolean {
  return attempt.ended?.outcome.kind === "nothing" && counts(attempt);
}
