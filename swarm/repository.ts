/**
 * Finds the HEAD commit of a person's repository by reading its files. Git never runs in the
 * repository, so that its configuration, hooks and filters cannot start programs. Used by mirror.ts
 * and cli/swarm/run_command.ts.
 * @module
 */
import { join } from "node:path";
import { Fault } from "../contracts/base/mod.ts";
import type { SwarmPowers } from "./swarm_powers.ts";

/** The commit that work starts from. */
export interface FoundBase {
  /** The commit's name: 40 or 64 hexadecimal digits. */
  readonly commit: string;
  /** Absolute path of the repository's objects. */
  readonly objects: string;
  /** The branch, for people; absent for a detached HEAD. */
  readonly branch?: string;
}

const NAME = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const REF = /^refs\/[\x21-\x7e]{1,400}$/;
const MAX_REF = 4_096, MAX_PACKED = 64_000_000;

/**
 * Finds the commit of HEAD.
 *
 * @throws Fault `notFound` without a repository or a commit, `refused` for a repository whose parts lie elsewhere
 */
export function findBase(
  { read, kind }: Pick<SwarmPowers, "read" | "kind">,
  folder: string,
): FoundBase {
  const git = join(folder, ".git");
  const refuse = (why: string, code: "refused" | "notFound" = "refused"): Fault =>
    new Fault(code, `Cannot work on the repository in ${JSON.stringify(folder)}: ${why}`);
  const found = kind(git);
  if (found === undefined) {
    throw refuse("it has no .git; name the repository's own top folder", "notFound");
  }
  if (found !== "folder") {
    throw refuse(
      "its .git is no folder (a linked worktree or a submodule): name the main checkout, or a clone of it",
    );
  }
  const objects = join(git, "objects");
  if (kind(objects) !== "folder") throw refuse("its .git/objects is no folder");
  const text = (path: string, most: number): string | undefined => {
    const bytes = read(join(git, path), most);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  };
  const head = text("HEAD", MAX_REF)?.trim() ?? "";
  if (NAME.test(head)) return { commit: head, objects };
  const ref = head.startsWith("ref: ") ? head.slice(5).trim() : "";
  if (!REF.test(ref) || ref.split("/").some((part) => part === "" || part.startsWith("."))) {
    throw refuse("its HEAD names neither a commit nor a branch");
  }
  if (ref === "refs/heads/.invalid") {
    throw refuse("its branches are kept as a reftable, which Remit does not read");
  }
  const branch = ref.replace(/^refs\/heads\//, "");
  const loose = text(ref, MAX_REF)?.trim();
  if (loose !== undefined && NAME.test(loose)) return { commit: loose, objects, branch };
  const packed = text("packed-refs", MAX_PACKED)?.split("\n").find((line) =>
    line.endsWith(` ${ref}`)
  );
  const commit = packed?.split(" ", 1)[0] ?? "";
  if (NAME.test(commit)) return { commit, objects, branch };
  throw refuse(`its branch "${branch}" has no commit yet: commit first`, "notFound");
}
