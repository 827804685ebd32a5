/**
 * The journal of a swarm: events, one per line, and the state folded from them. An event that
 * contradicts earlier ones is refused, so that no issue is ever worked on twice at a time, even with two
 * writers. Pure: swarm_powers.ts reads and writes the file; cli/swarm/ and scheduler.ts fold.
 * @module
 */
import { type Colour, type Label, mixColour, mixLabel } from "../contracts/authority/mod.ts";
import { Fault, unreachable } from "../contracts/base/mod.ts";
import { type Outcome, SwarmEvent } from "./events.ts";
import type { SwarmIssue } from "./plan.ts";
import type { Passed } from "./stages.ts";
import { Handoff, type SwarmReview } from "./words.ts";

type Event<K extends SwarmEvent["kind"]> = Extract<SwarmEvent, { kind: K }>;

/** One task of the swarm. */
export interface Attempt extends Omit<Event<"assigned">, "kind" | "attempt"> {
  readonly n: number;
  task?: string;
  ended?: Event<"ended">;
}

/** State of an issue. */
export interface IssueState {
  readonly issue: SwarmIssue;
  status: "open" | "merged" | "failed" | "conflicted" | "cancelled";
  why: string;
  readonly attempts: Attempt[];
  /** Documents of its passed stages. */
  passed: Passed;
  /** The change in progress, if any. */
  work: { readonly attempt: Attempt; readonly commit: string; readonly tree: string } | undefined;
  approvals: Attempt[];
  /** Rejecting reviews of the change in progress. */
  rejections: SwarmReview[];
  readonly handoffs: Handoff[];
  /** Merges of its change that failed over paths. */
  conflicts: Event<"conflict">[];
  /** Claims of other tasks on a part that the issue declares; a person decides. */
  readonly contested: Event<"contested">[];
  merging: Event<"merging"> | undefined;
  merged:
    | { readonly commit: string; readonly paths: readonly string[]; readonly task: string }
    | undefined;
}

/** A swarm's state, folded from its journal. */
export interface SwarmState {
  readonly id: string;
  readonly begun: Event<"begun">;
  readonly issues: ReadonlyMap<string, IssueState>;
  /** In order of assignment. */
  readonly attempts: Attempt[];
  /** Merged issues, in the order of their commits. */
  readonly merges: IssueState[];
  /** Results of checks by tree. */
  readonly checks: Map<string, Event<"checked">>;
  /** The final diff over all merges, offered to the person as a task. */
  offered: Event<"offered"> | undefined;
  finished: Event<"finished"> | undefined;
}

/** The running attempt of an issue. */
export const liveOf = ({ attempts }: Pick<IssueState, "attempts">): Attempt | undefined =>
  attempts.find(({ ended }) => ended === undefined);

/**
 * Label and colour that a task takes on from other tasks' merged text in its tree and request. No person
 * has reviewed a merged change before the last diff, so a worker counts as having read what the change's
 * author had read.
 */
export function readBefore(
  state: Pick<SwarmState, "merges">,
  of: Pick<IssueState, "attempts">,
): { readonly label: Label; readonly merged: Colour } {
  const authors = state.merges.flatMap(({ attempts, merged }) =>
    attempts.filter(({ task }) => task !== undefined && task === merged?.task)
  );
  return {
    label: [...of.attempts, ...authors].reduce<Label>(
      (all, { ended }) => mixLabel(all, ended?.label ?? "public"),
      "public",
    ),
    // A journal of an earlier version does not say: assume the worst.
    merged: authors.reduce<Colour>(
      (all, { ended }) => mixColour(all, ended?.colour ?? "RED"),
      "BLUE",
    ),
  };
}

/** US dollars spent. */
export const spentOf = ({ attempts }: Pick<SwarmState, "attempts">): number =>
  attempts.reduce((sum, { ended }) => sum + (ended?.money ?? 0), 0);

/** The state after the first event. */
export function beginState(event: SwarmEvent): SwarmState {
  if (event.kind !== "begun") throw wrong("its first line does not say how it began");
  return {
    id: event.id,
    begun: event,
    attempts: [],
    merges: [],
    checks: new Map(),
    offered: undefined,
    finished: undefined,
    issues: new Map(event.plan.issues.map((each): [string, IssueState] => [each.id, {
      issue: each,
      status: "open",
      why: "",
      attempts: [],
      passed: {},
      work: undefined,
      approvals: [],
      rejections: [],
      handoffs: [],
      conflicts: [],
      contested: [],
      merging: undefined,
      merged: undefined,
    }])),
  };
}

/** Folds one event into the state. @throws Fault `conflict` for an event that contradicts earlier ones */
export function takeEvent(state: SwarmState, event: SwarmEvent): void {
  switch (event.kind) {
    case "begun":
      throw wrong("it begins twice");
    case "assigned": {
      const { kind: _, attempt: n, ...rest } = event;
      const of = open(state, event.issue);
      if (liveOf(of) !== undefined) throw wrong(`issue "${event.issue}" is worked on already`);
      if (state.attempts.some((each) => each.n === n || each.session === event.session)) {
        throw wrong(`attempt ${n} or its session is assigned twice`);
      }
      if (event.work === "review" && event.role === of.work?.attempt.role) {
        throw wrong(`the author of "${event.issue}" would review it`);
      }
      const { work, stage } = event;
      if ((work === "stage") !== (stage !== undefined)) {
        throw wrong(`attempt ${n} must name a stage exactly if it is stage work`);
      }
      if (stage !== undefined && (of.work !== undefined || of.passed[stage] !== undefined)) {
        throw wrong(`the ${stage} of "${event.issue}" is settled already`);
      }
      const made: Attempt = { ...rest, n };
      of.attempts.push(made);
      state.attempts.push(made);
      return;
    }
    case "started": {
      const found = live(state, event.attempt);
      if (state.attempts.some(({ task }) => task === event.task)) {
        throw wrong(`task ${event.task} works on two things`);
      }
      found.task = event.task;
      return;
    }
    case "ended": {
      const found = live(state, event.attempt);
      found.ended = event;
      takeOutcome(open(state, found.issue), found, {
        outcome: event.outcome,
        most: state.begun.plan.rejections,
      });
      return;
    }
    case "checked": {
      state.checks.set(event.tree, event);
      const of = open(state, event.issue);
      if (!event.ok) drop(of, "its checks fail", event.said);
      return;
    }
    case "merging": {
      const of = open(state, event.issue);
      if (of.work === undefined) throw wrong(`"${event.issue}" has nothing to merge`);
      of.merging = event;
      return;
    }
    case "merged": {
      const of = open(state, event.issue);
      if (of.merging?.commit !== event.commit || of.work === undefined) {
        throw wrong(`"${event.issue}" is merged without having been checked`);
      }
      of.status = "merged";
      const { paths } = of.merging;
      of.merged = { commit: event.commit, paths, task: of.work.attempt.task ?? "" };
      state.merges.push(of);
      return;
    }
    case "conflict": {
      const of = open(state, event.issue);
      of.conflicts.push(event);
      const whose = event.others.map(({ issue, task }) => `"${issue}" (task ${task})`).join(", ");
      drop(of, `it conflicts with ${whose || "what was merged"} in ${event.paths.join(", ")}`, "");
      return;
    }
    case "contested":
      open(state, event.issue).contested.push(event);
      return;
    case "closed": {
      const of = open(state, event.issue);
      of.status = event.status;
      of.why = event.why;
      return;
    }
    case "offered":
      state.offered = event;
      return;
    case "finished":
      state.finished = event;
      return;
    default:
      return unreachable(event);
  }
}

function takeOutcome(
  of: IssueState,
  attempt: Attempt,
  { outcome, most }: { readonly outcome: Outcome; readonly most: number },
): void {
  switch (outcome.kind) {
    case "patch":
      of.work = { attempt, commit: outcome.commit, tree: outcome.tree };
      of.approvals = [];
      of.rejections = [];
      return;
    case "settled": {
      const { stage } = attempt;
      if (stage === undefined) throw wrong(`attempt ${attempt.n} is not stage work`);
      of.passed = { ...of.passed, [stage]: outcome.document };
      return;
    }
    case "approved":
      of.approvals.push(attempt);
      return;
    case "rejected":
      of.rejections.push(outcome.review);
      if (of.rejections.length < most) return;
      return drop(
        of,
        `${most === 1 ? "a reviewer" : `${most} reviewers`} rejected it`,
        of.rejections.flatMap(({ findings }) => findings).map(({ path, line, what }) =>
          `${path}${line === undefined ? "" : `:${line}`}: ${what}`
        ).join("\n"),
      );
    case "nothing":
      // A failed review is simply repeated; other failures leave a handoff for the next attempt.
      if (attempt.work !== "review") {
        of.handoffs.push(handoff(attempt, outcome.why, outcome.left ?? [], "", outcome.said));
      }
      return;
    default:
      return unreachable(outcome);
  }
}

/** Drops the change in progress and leaves a handoff for the next worker. */
function drop(of: IssueState, why: string, verification: string): void {
  const { work } = of;
  if (work !== undefined) {
    const outcome = work.attempt.ended?.outcome;
    const [paths, said] = outcome?.kind === "patch" ? [outcome.paths, outcome.said] : [[], ""];
    of.handoffs.push(handoff(work.attempt, why, paths, verification, said));
  }
  of.work = undefined;
  of.approvals = [];
  of.rejections = [];
  of.merging = undefined;
}

function handoff(
  { n }: Attempt,
  why: string,
  artifacts: readonly string[],
  verification: string,
  said: string,
): Handoff {
  return Handoff.parse({
    attempt: n,
    artifacts: artifacts.slice(0, 10_000),
    why: why.slice(0, 8_000),
    verification: verification.slice(-8_000),
    said: said.slice(0, 4_000),
  });
}

function open(state: SwarmState, id: string): IssueState {
  const found = state.issues.get(id);
  if (found === undefined) throw wrong(`there is no issue "${id}"`);
  if (found.status !== "open") throw wrong(`issue "${id}" is ${found.status} already`);
  return found;
}

function live(state: SwarmState, n: number): Attempt {
  const found = state.attempts.find((each) => each.n === n);
  if (found === undefined || found.ended !== undefined) {
    throw wrong(`attempt ${n} is not under way`);
  }
  return found;
}

function wrong(why: string): Fault {
  return new Fault("conflict", `Cannot go on with the swarm: ${why}`);
}

/** Folds a journal's lines. @throws Fault `conflict` naming the invalid line */
export function readState(lines: readonly string[]): SwarmState | undefined {
  let state: SwarmState | undefined;
  for (const [at, line] of lines.entries()) {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (cause) {
      throw new Fault("conflict", `Cannot read the swarm's journal: line ${at + 1} is not JSON`, {
        cause,
      });
    }
    const parsed = SwarmEvent.safeParse(value);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new Fault(
        "conflict",
        `Cannot read the swarm's journal: line ${at + 1}: ${
          issue?.path.join(".")
        }: ${issue?.message}`,
      );
    }
    if (state === undefined) state = beginState(parsed.data);
    else takeEvent(state, parsed.data);
  }
  return state;
}
