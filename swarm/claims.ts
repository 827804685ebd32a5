/**
 * Claims of a swarm's workers: the parts that each issue declares, claimed in the kernel's registry
 * of shared resources, the only place that knows who works where. Claims last from the worker's
 * start until its change is merged or dropped; a worker at another kernel has none in this
 * registry. Within the swarm the scheduler decides conflicts: the second worker waits. Conflicts
 * with others are the person's to decide. docs/shared_resources.md. Used by scheduler.ts and
 * workers.ts.
 * @module
 */
import * as z from "zod";
import { Fault, type Json, toJson } from "../contracts/base/mod.ts";
import {
  ConflictReport,
  overlaps,
  RESOURCE_LIMITS,
  ResourceLease,
  type ResourceRef,
  ResourceScope,
  SharedResource,
} from "../contracts/task/resources.ts";
import type { SwarmEvent } from "./events.ts";
import type { Attempt, IssueState, SwarmState } from "./journal.ts";
import type { SwarmPowers } from "./swarm_powers.ts";

/** The parts of {@link makeClaims}. */
export interface ClaimParts {
  readonly state: SwarmState;
  /** The repository's name in the registry. */
  readonly resource: ResourceRef;
  /** The control operation `resources`. */
  readonly ask: (body: Json) => Promise<Json>;
  readonly powers: Pick<SwarmPowers, "now" | "rest">;
  record(event: SwarmEvent): Promise<void>;
}

/** The claims of one swarm. */
export interface Claims {
  /** Returns the issues that may begin, in order: no worker of this swarm claims their parts. */
  free(issues: readonly IssueState[]): Promise<readonly IssueState[]>;
  /** Claims the issue's parts for this worker's task, or renews the claims. Conflicts go to the person. */
  take(of: IssueState, author: Attempt): Promise<void>;
  /** Waits until all parts are claimed or the person has decided. Returns the reason if the other keeps a part. */
  settled(of: IssueState, author: Attempt, stop: AbortSignal): Promise<string | undefined>;
  /**
   * Extends claims that expire soon, so that claims of a dead scheduler expire. Ends claims that an earlier scheduler
   * left for closed issues.
   */
  renew(): Promise<void>;
  /** Ends the issue's claims. */
  release(of: IssueState): Promise<void>;
  /** Tells a starting worker about its issue's last conflict. */
  tellBegun(of: IssueState, author: Attempt): Promise<void>;
  /** Tells running workers whose declared parts this merged change touched. */
  tellMerged(of: IssueState): Promise<void>;
}

/** The registry's answer to a claim. */
const Outcome = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("held"), lease: ResourceLease, renewed: z.boolean() }).strict(),
  z.object({ kind: z.literal("conflict"), report: ConflictReport }).strict(),
]);

/**
 * Ignores faults that do not matter for coordination: a full registry, a claim that was held for a
 * day (the maximum) or has ended, a purged task. Claims permit nothing, so the work continues
 * without.
 */
function ignoreLost(error: unknown): undefined {
  if (error instanceof Fault && (error.code === "tooLarge" || error.code === "notFound")) return;
  throw error;
}

/** Milliseconds before expiry at which claims are renewed, and minimum between two looks at the registry. */
const SOON_MS = 600_000, LOOK_MS = 60_000;
/** Milliseconds between two looks at undecided conflicts. */
const DECIDED_MS = 2_000;
/** Maximum paths of one conflict reported to a worker. */
const MAX_TOLD = 8;

/** Makes the claims of a swarm. An issue without declared parts claims nothing. */
export function makeClaims({ state, resource, ask, powers, record }: ClaimParts): Claims {
  /** Issues found free, until released; needed because a worker at another kernel has no claim in this registry. */
  const coming = new Set<IssueState>();
  let looked = 0;

  const look = async (): Promise<Pick<SharedResource, "leases" | "conflicts">> => {
    const all = SharedResource.array().parse(await ask({ do: "list" }));
    return all.find(({ ref }) => ref === resource) ?? { leases: [], conflicts: [] };
  };
  const scopes = ({ issue }: IssueState): readonly ResourceScope[] => {
    const all = [...new Set(issue.paths.map((path) => path.replace(/\/$/, "")))];
    // A part beneath another is claimed with it.
    return all.filter((path) => !all.some((each) => path.startsWith(`${each}/`)))
      .map((path) => ResourceScope.parse(path));
  };
  const declares = (of: IssueState): boolean => of.issue.paths.length > 0;
  const issueOf = ({ owner }: ResourceLease): string | undefined =>
    state.attempts.find(({ task }) => task === owner.task)?.issue;
  const ofIssue = (leases: readonly ResourceLease[], { issue }: IssueState) =>
    leases.filter((lease) => issueOf(lease) === issue.id);
  const touch = (a: readonly ResourceScope[], b: readonly ResourceScope[]): boolean =>
    a.some((one) => b.some((two) => overlaps(one, two)));

  /** Ends a claim; one that has ended meanwhile is ignored. */
  const end = async (lease: ResourceLease): Promise<void> => {
    await ask({ do: "release", task: lease.owner.task, claim: lease.id }).catch(ignoreLost);
  };
  const claim = async (
    task: string,
    scope: ResourceScope,
    mode: ResourceLease["mode"],
  ): Promise<z.infer<typeof Outcome> | undefined> => {
    try {
      const asked = { do: "claim", task, resource, scope, mode, standing: true } as const;
      return Outcome.parse(await ask(asked));
    } catch (error) {
      return ignoreLost(error);
    }
  };

  /** Claims the issue's parts and returns conflicts that are undecided or were decided for the other. */
  const contested = async (
    of: IssueState,
    { n, task = "" }: Attempt,
  ): Promise<readonly ConflictReport[]> => {
    const { leases, conflicts } = await look();
    for (const lease of ofIssue(leases, of)) if (lease.owner.task !== task) await end(lease);
    const found: ConflictReport[] = [];
    for (const scope of scopes(of)) {
      const own = leases.find(({ owner, scope: part }) => owner.task === task && part === scope);
      const known = conflicts.findLast(({ about, claimant, scope: part }) =>
        about === "claim" && claimant.task === task && part === scope
      );
      if (own === undefined && known?.state === "decided" && known.decision === "share") continue;
      const stands = known?.state === "open" ||
        (known?.state === "decided" && known.decision === "refuse");
      if (own === undefined && known !== undefined && stands) {
        found.push(known);
        continue;
      }
      const outcome = await claim(task, scope, own?.mode ?? "exclusive");
      if (outcome?.kind !== "conflict") continue;
      const { id, holder } = outcome.report;
      found.push(outcome.report);
      await record({
        ...{ kind: "contested", at: powers.now(), issue: of.issue.id, attempt: n, conflict: id },
        ...{ scope, holder: holder?.task ?? "" },
      });
    }
    return found;
  };

  const report = async (
    task: string,
    scope: ResourceScope,
    found: {
      readonly holder: string;
      readonly observed: string;
      readonly current: string;
      readonly colour: "BLUE" | "YELLOW";
    },
  ): Promise<void> => {
    const { holder, observed, current, colour } = found;
    const { role = "" } = state.attempts.find((each) => each.task === holder) ?? {};
    const head = (value: string): Json => ({ kind: "branchHead", value });
    await ask(toJson({
      ...{ do: "report", task, resource, scope, about: "version", colour },
      ...(holder === "" ? {} : { holder: { task: holder, agent: role } }),
      ...{ observed: head(observed), current: head(current) },
    })).catch(ignoreLost);
  };

  return Object.freeze<Claims>({
    async free(issues): Promise<readonly IssueState[]> {
      if (!issues.some(declares)) return issues;
      const { leases } = await look();
      const mine = new Set([...coming].map(({ issue }) => issue.id));
      let room = RESOURCE_LIMITS.leases -
        leases.filter((lease) => !mine.has(issueOf(lease) ?? "")).length -
        [...coming].reduce((sum, of) => sum + of.issue.paths.length, 0);
      return issues.filter((of) => {
        if (!declares(of)) return true;
        const parts = scopes(of);
        const held = leases.filter((lease) => {
          const whose = issueOf(lease);
          return whose !== undefined && whose !== of.issue.id;
        }).map(({ scope }) => scope);
        const others = [...coming].filter((each) => each !== of).flatMap(scopes);
        if (touch(parts, [...held, ...others]) || parts.length > room) return false;
        room -= parts.length;
        coming.add(of);
        return true;
      });
    },
    async take(of, author): Promise<void> {
      if (declares(of)) await contested(of, author);
    },
    async settled(of, author, stop): Promise<string | undefined> {
      while (declares(of) && !stop.aborted) {
        const found = await contested(of, author);
        const [first] = found;
        if (first === undefined) return undefined;
        const refused = found.find(({ decision }) => decision === "refuse");
        if (refused !== undefined) {
          const { scope, holder, id, approver = "host" } = refused;
          return `"${scope}" was left to task ${holder?.task} (conflict ${id}, decided by ${approver})`;
        }
        await powers.rest(DECIDED_MS, stop);
      }
      return undefined;
    },
    async renew(): Promise<void> {
      const now = powers.now();
      if (now - looked < LOOK_MS || ![...state.issues.values()].some(declares)) return;
      looked = now;
      for (const lease of (await look()).leases) {
        const of = state.issues.get(issueOf(lease) ?? "");
        // The issue is closed but an earlier scheduler was killed before it ended the claim.
        if (of !== undefined && of.status !== "open" && !coming.has(of)) await end(lease);
        if (of?.status !== "open" || lease.expiresAt - now > SOON_MS) continue;
        await claim(lease.owner.task, lease.scope, lease.mode);
      }
    },
    async release(of): Promise<void> {
      coming.delete(of);
      if (!declares(of)) return;
      for (const lease of ofIssue((await look()).leases, of)) await end(lease);
    },
    async tellBegun(of, { task = "", from }): Promise<void> {
      const last = of.conflicts.at(-1);
      const tried = of.attempts.findLast(({ ended }) => ended?.outcome.kind === "patch");
      if (last === undefined || tried === undefined) return;
      const holder = last.others[0]?.task ?? "";
      for (const path of last.paths.slice(0, MAX_TOLD)) {
        const scope = ResourceScope.safeParse(path);
        if (!scope.success) continue;
        // File names are text of whoever created the files.
        const found = { holder, observed: tried.from, current: from, colour: "YELLOW" } as const;
        await report(task, scope.data, found);
      }
    },
    async tellMerged({ issue, merged }): Promise<void> {
      if (merged === undefined) return;
      const changed = merged.paths.flatMap((path) => ResourceScope.safeParse(path).data ?? []);
      for (const of of state.issues.values()) {
        const live = of.attempts.find(({ work, task, ended }) =>
          work === "author" && task !== undefined && ended === undefined
        );
        if (live?.task === undefined || of.issue.id === issue.id) continue;
        for (const scope of scopes(of).filter((part) => touch([part], changed))) {
          const { task: holder, commit: current } = merged;
          const found = { holder, observed: live.from, current, colour: "BLUE" } as const;
          await report(live.task, scope, found);
        }
      }
    },
  });
}
