/** Turns a worker's staged files into a commit, checked against the tree that the worker received. @module */
import { Fault } from "../contracts/base/mod.ts";
import type { Outcome } from "./events.ts";
import type { Attempt, IssueState, SwarmState } from "./journal.ts";
import type { FileChange, Mirror } from "./mirror.ts";
import { badPath } from "./tree_files.ts";

/** A file that a task staged. */
export interface StagedFile {
  /** Relative to the mount. */
  readonly path: string;
  /** SHA-256 of the original content; absent: the file is new. */
  readonly base?: string;
  /** Size of the new content; absent: the file is deleted. */
  readonly bytes?: number;
  readonly executable?: boolean;
  /** Reads the content. Throws Fault `refused` if it does not match its digest. */
  read(): Uint8Array;
}

/** The parts of {@link patchOf}. */
export interface PatchParts {
  readonly state: SwarmState;
  readonly mirror: Pick<Mirror, "tree" | "blobs" | "commit">;
  sha256(bytes: Uint8Array): string;
}

/** Commits a worker's change. @throws Fault `refused` for a change that is not allowed */
export async function patchOf(
  { state, mirror, sha256 }: PatchParts,
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
    // A change must start from the tree that its worker received.
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
