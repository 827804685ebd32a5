/** What no imported server touches, though it was granted a folder around it: the never-list, and what is a wiki's own. @module */
import { foldPath } from "../../text/path_list.ts";
import { beneath } from "../lease/scope.ts";

/** What in a wiki's folder is written by its own process alone; and what a person writes, and no tool. */
const OWN = ["raw", "pages", "index.md", "log.md"];
const READ_ONLY = ["AGENTS.md"];

/** Globs of names in which all that may not be read ends; `neverRead` is the policy's. */
export function forbiddenNames(neverRead: readonly string[]): readonly string[] {
  return [...neverRead, ...OWN];
}

/** Why a path of the machine may not be touched, in words; undefined when it may. */
export type Forbids = (path: string, right: "read" | "write") => string | undefined;

/** Makes the rule of a task that knows of these wikis: folders, absolute and real. */
export function makeMcpForbids(
  { policyNever, wikis }: {
    /** The rule that keeps every tool from a path, which is written without its first slash. */
    readonly policyNever: Forbids;
    readonly wikis: readonly string[];
  },
): Forbids {
  const own = wikis.flatMap((folder) => OWN.map((name) => foldPath(`${folder}/${name}`)));
  const kept = [
    ...own,
    ...wikis.flatMap((folder) => READ_ONLY.map((name) => foldPath(`${folder}/${name}`))),
  ];
  return (path, right) => {
    const rule = policyNever(path.slice(1), right);
    if (rule !== undefined) return `it is on the never-list (${rule})`;
    const folded = foldPath(path);
    const touched = right === "write"
      // A folder above is moved or removed with the wiki in it.
      ? kept.some((each) => beneath(each, folded) || beneath(folded, each))
      : own.some((each) => beneath(each, folded));
    return touched ? "it is a wiki's own" : undefined;
  };
}
