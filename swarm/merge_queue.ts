/**
 * The merge queue: merges one change at a time onto the mirror's branch, three-way; checks the
 * merged tree; and moves the branch by compare-and-swap. The journal records each merge before the
 * branch moves, so that a killed queue continues where it was. Used by scheduler.ts.
 * @module
 */
import { Fault } from "../contracts/base/mod.ts";
import type { Check } from "./checks.ts";
import type { SwarmEvent } from "./events.ts";
import type { IssueState, SwarmState } from "./journal.ts";
import type { Mirror } from "./mirror.ts";

/** The parts of the merge queue. */
export interface QueueParts {
  readonly state: SwarmState;
  readonly mirror: Pick<Mirror, "tip" | "swap" | "merge" | "treeOf" | "commitTree">;
  readonly check: Check;
  /** Records an event durably and folds it into the state. */
  record(event: SwarmEvent): Promise<void>;
  now(): number;
}

/** Merges an issue's change into the branch; afterwards the issue is merged or its change is dropped. */
export type Merging = (id: string) => Promise<void>;

/** Makes the queue; calls are served in order. */
export function makeMergeQueue(parts: QueueParts): Merging {
  let before: Promise<void> = Promise.resolve();
  const head: Head = { now: undefined };
  return (id) => {
    const mine = before.catch(() => undefined).then(() => mergeOne(parts, head, id));
    before = mine;
    return mine;
  };
}

/** The branch's tip as last seen; the swap detects a stale one. */
interface Head {
  now: { readonly tip: string; readonly tree: string } | undefined;
}

async function mergeOne(parts: QueueParts, head: Head, id: string): Promise<void> {
  const { state, mirror, record, now } = parts;
  const of = state.issues.get(id);
  const { tip, tree } = head.now ??= await standing(parts);
  if (of?.status === "merged") return;
  if (of?.work === undefined) throw new TypeError(`Cannot merge "${id}": it has no change`);
  const { work } = of;
  const merge = await mirror.merge(tip, work.commit);
  if (merge.kind === "conflict") {
    return await record({
      ...{ kind: "conflict", at: now(), issue: id, paths: [...merge.paths] },
      others: [...othersOf(state, work.attempt.from, merge.paths)],
    });
  }
  if (merge.tree === tree) {
    return await record({
      ...{ kind: "closed", at: now(), issue: id, status: "failed" },
      why: "its change is in the branch already: nothing is left of it",
    });
  }
  if (!await passes(parts, of, merge.tree)) return;
  const commit = await mirror.commitTree(merge.tree, {
    parent: tip,
    message: `${of.issue.title.replace(/\s+/g, " ")}\n\nIssue: ${id}\nTask: ${
      work.attempt.task ?? ""
    }`,
    // Time from the journal and not the clock, so that a merge repeated after a crash gives the same commit.
    at: work.attempt.ended?.at ?? state.begun.at,
  });
  const outcome = work.attempt.ended?.outcome;
  const paths = outcome?.kind === "patch" ? outcome.paths : [];
  await record({ kind: "merging", at: now(), issue: id, tip, commit, paths });
  if (!await mirror.swap(commit, tip)) {
    throw new Fault(
      "conflict",
      `Cannot merge "${id}": the mirror's branch was moved by somebody else; nothing of it was overwritten`,
    );
  }
  head.now = { tip: commit, tree: merge.tree };
  await record({ kind: "merged", at: now(), issue: id, commit });
}

/** The branch's tip. First records a merge that moved the branch before a crash. */
export async function standing(
  { state, mirror, record, now }: Pick<QueueParts, "state" | "mirror" | "record" | "now">,
): Promise<NonNullable<Head["now"]>> {
  const tip = await mirror.tip();
  for (const { issue, status, merging } of state.issues.values()) {
    if (status === "open" && merging?.commit === tip) {
      await record({ kind: "merged", at: now(), issue: issue.id, commit: tip });
    }
  }
  return { tip, tree: await mirror.treeOf(tip) };
}

/** Whether the checks pass on a tree; each tree is checked once. */
export async function passes(
  { state, check, record, now }: Pick<QueueParts, "state" | "check" | "record" | "now">,
  { issue, work }: IssueState,
  tree: string,
): Promise<boolean> {
  const known = state.checks.get(tree);
  const outcome = work?.attempt.ended?.outcome;
  const { ok, said } = known ??
    await check(tree, outcome?.kind === "patch" ? outcome.paths : []);
  if (known === undefined || !ok) {
    await record({
      kind: "checked",
      at: now(),
      issue: issue.id,
      tree,
      ok,
      said: said.slice(-8_000),
    });
  }
  return ok;
}

/** Issues merged since `from` that changed these paths. */
function othersOf(
  { merges }: SwarmState,
  from: string,
  paths: readonly string[],
): readonly { readonly issue: string; readonly task: string }[] {
  const since = merges.findIndex(({ merged }) => merged?.commit === from) + 1;
  return merges.slice(since).flatMap(({ issue, merged }) =>
    merged !== undefined && merged.paths.some((path) => paths.includes(path))
      ? [{ issue: issue.id, task: merged.task }]
      : []
  );
}
