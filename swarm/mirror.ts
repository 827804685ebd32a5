/**
 * A bare mirror of one commit of a person's repository, with its own configuration: changes become
 * commits, commits are merged, and one branch moves by compare-and-swap. Nothing in the repository
 * runs anything (no hook, filter, attribute or submodule), because git never checks out a file.
 * @module
 */
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { Fault } from "../contracts/base/mod.ts";
import { joinBytes } from "../port/join_bytes.ts";
import type { Loop, Ran } from "./run_powers.ts";
import type { GitRoom, Planted, SwarmPowers } from "./swarm_powers.ts";
import { badPath, type FileTree, parseTree, staysInside, type TreeFile } from "./tree_files.ts";
import type { FoundBase } from "./repository.ts";

/** One file of a change; without `bytes` it is deleted. */
export interface FileChange {
  readonly path: string;
  readonly bytes?: Uint8Array;
  /** Whether a new file is executable. An existing file keeps its mode. */
  readonly executable?: boolean;
}

/** Object names of a commit and its tree. */
export interface Committed {
  readonly commit: string;
  readonly tree: string;
}

/** Result of a three-way merge. */
export type Merge =
  | { readonly kind: "merged"; readonly tree: string }
  | { readonly kind: "conflict"; readonly paths: readonly string[] };

/** A file that differs between two commits. */
export interface Difference {
  readonly path: string;
  readonly state: "added" | "changed" | "deleted";
  readonly before?: { readonly blob: string; readonly mode: string };
  readonly after?: { readonly blob: string; readonly mode: string };
}

/** The mirror of one swarm. */
export interface Mirror {
  /** Copies the base commit, its trees and blobs. Idempotent. */
  take(base: FoundBase): Promise<void>;
  /** Removes a stale lock of the branch that a killed process left. Only for the mirror's single writer. */
  mend(): Promise<void>;
  /** The branch's commit. */
  tip(): Promise<string>;
  /** Moves the branch if it is still at `from`; false otherwise. */
  swap(to: string, from: string): Promise<boolean>;
  tree(commit: string): Promise<FileTree>;
  treeOf(commit: string): Promise<string>;
  /** Files of a tree with their bytes, without links that might lead outside. */
  planted(files: readonly TreeFile[]): AsyncGenerator<Planted>;
  /** Contents of blobs, in the order of `names`. */
  blobs(names: readonly string[]): Promise<readonly Uint8Array[]>;
  /** Commits a change on `from`. Throws Fault `refused` for a path that no change may touch. */
  commit(
    from: string,
    what: {
      readonly changes: readonly FileChange[];
      readonly ref: string;
      readonly message: string;
      readonly at: number;
    },
  ): Promise<Committed>;
  /** Commits a tree as the only child of `parent`. Equal arguments give the same commit. */
  commitTree(
    tree: string,
    what: { readonly parent: string; readonly message: string; readonly at: number },
  ): Promise<string>;
  /** Merges two commits; one merge at a time. */
  merge(ours: string, theirs: string): Promise<Merge>;
  differences(from: string, to: string): Promise<readonly Difference[]>;
  /** A unified diff, for people and reviewers: untrusted text. */
  diff(from: string, to: string): Promise<string>;
  /** Ends the process kept for merges. */
  close(): Promise<void>;
}

/** The branch that reviewed changes are merged into. */
const BRANCH = "refs/heads/swarm";
const BASE = "refs/heads/base";
const OID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

const MERGE = ["merge-tree", "--write-tree", "--name-only", "-z", "--no-messages"];

const encoder = new TextEncoder();
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Makes the mirror over the folder of a bare repository, which `take` creates. */
export function makeMirror(
  powers: Pick<
    SwarmPowers,
    "git" | "gitLoop" | "write" | "kind" | "plant" | "keep" | "swap" | "clear"
  >,
  folder: string,
): Mirror {
  const room: GitRoom = { mirror: folder };
  const git = async (
    what: string,
    args: readonly string[],
    options: {
      readonly input?: Uint8Array;
      readonly room?: GitRoom;
      readonly allowed?: readonly number[];
    } = {},
  ): Promise<Ran> => {
    const ran = await powers.git(options.room ?? room, args, options.input);
    if (ran.cut === undefined && (ran.code === 0 || options.allowed?.includes(ran.code) === true)) {
      return ran;
    }
    const why = ran.cut ?? ran.stderr.trim().split("\n").slice(-3).join("; ").slice(0, 600);
    throw new Fault(
      "upstream",
      `Cannot ${what}: git says: ${why === "" ? `exit ${ran.code}` : why}`,
    );
  };
  const name = (ran: Ran, what: string): string => {
    const found = textOf(ran.stdout).trim();
    if (OID.test(found)) return found;
    throw new Fault("upstream", `Cannot ${what}: git names no object`);
  };
  const resolve = async (what: string): Promise<string> =>
    name(
      await git(`find ${what}`, ["rev-parse", "--verify", "--end-of-options", what]),
      `find ${what}`,
    );

  const blobs = async (names: readonly string[]): Promise<readonly Uint8Array[]> => {
    if (names.length === 0) return [];
    const ran = await git("read files", ["cat-file", "--batch"], {
      input: encoder.encode(`${names.join("\n")}\n`),
    });
    return parseBatch(ran.stdout, names.length);
  };

  let merges: Promise<Loop> | undefined;
  const close = async (): Promise<void> => {
    const open = merges;
    merges = undefined;
    await (await open?.catch(() => undefined))?.close();
  };
  const mergeTree = async (ours: string, theirs: string): ReturnType<Loop["ask"]> => {
    // INVARIANT: a shell splits this line into words, so only object names are allowed.
    if (![ours, theirs].every((each) => OID.test(each))) throw new TypeError("no name of a commit");
    for (let tries = 0;; tries++) {
      merges ??= powers.gitLoop(room, MERGE);
      try {
        return await (await merges).ask(`${ours} ${theirs}`);
      } catch (error) {
        await close();
        if (error instanceof Fault) throw error;
        // The idle process may have been killed: try once more. A merge writes nothing permanent.
        if (tries > 0) {
          throw new Fault("upstream", "Cannot merge: git ended early", { cause: error });
        }
      }
    }
  };

  const tree = async (commit: string): Promise<FileTree> =>
    parseTree(
      textOf(
        (await git("list files", ["ls-tree", "-r", "-z", "-l", "--full-tree", commit])).stdout,
      ),
    );

  return Object.freeze<Mirror>({
    close,
    async take({ commit, objects }): Promise<void> {
      if (powers.kind(`${folder}/HEAD`) === undefined) {
        await powers.plant(folder, []);
        const format = commit.length === 64 ? "sha256" : "sha1";
        await git("make a mirror", [
          "init",
          "--quiet",
          "--bare",
          "--template=",
          `--object-format=${format}`,
          "/mirror",
        ]);
      }
      // A shallow mirror: no history is needed, so its cost does not depend on the history's length.
      powers.write(`${folder}/shallow`, `${commit}\n`);
      const source: GitRoom = { mirror: folder, objects };
      const listed = await git("read the repository", [
        "rev-list",
        "--objects",
        "--no-walk",
        commit,
      ], { room: source });
      const packed = await git("read the repository", ["pack-objects", "--quiet", "--stdout"], {
        ...{ room: source, input: listed.stdout },
      });
      // Run without the source repository, so that objects missing from the pack are detected here.
      await git("keep the repository", ["index-pack", "--stdin", "--fsck-objects"], {
        input: packed.stdout,
      });
      await git("keep the repository", ["rev-list", "--objects", "--no-walk", "--quiet", commit]);
      await tree(commit);
      for (const ref of [BASE, BRANCH]) {
        await git("begin a branch", ["update-ref", ref, commit, "0".repeat(commit.length)], {
          allowed: [128],
        });
      }
      if (await resolve(BASE) !== commit) {
        throw new Fault("conflict", "Cannot begin: the mirror holds another base already");
      }
    },
    tip: () => resolve(BRANCH),
    mend: () => powers.clear(`${folder}/${BRANCH}.lock`),
    swap: (to, from) => Promise.resolve(powers.swap(`${folder}/${BRANCH}`, `${to}\n`, `${from}\n`)),
    tree,
    treeOf: (commit) => resolve(`${commit}^{tree}`),
    async *planted(files): AsyncGenerator<Planted> {
      const SLICE = 500;
      for (let at = 0; at < files.length; at += SLICE) {
        const slice = files.slice(at, at + SLICE);
        const contents = await blobs(slice.map(({ blob }) => blob));
        for (const [n, { path, mode }] of slice.entries()) {
          const bytes = contents[n] ?? new Uint8Array();
          if (mode !== "120000") {
            yield { path, bytes, kind: mode === "100755" ? "program" : "file" };
          } else if (staysInside(path, textOf(bytes))) yield { path, bytes, kind: "link" };
        }
      }
    },
    blobs,
    async commit(from, { changes, ref, message, at }): Promise<Committed> {
      const known = new Map((await tree(from)).files.map((file) => [file.path, file]));
      const parts: Uint8Array[] = [
        encoder.encode(`commit ${ref}\ncommitter ${AUTHOR} ${Math.floor(at / 1_000)} +0000\n`),
        data(encoder.encode(message)),
        encoder.encode(`from ${from}\n`),
      ];
      for (const { path, bytes, executable } of changes) {
        const bad = badPath(path);
        const mode = known.get(path)?.mode ?? (executable === true ? "100755" : "100644");
        if (bad !== undefined || mode === "120000") {
          throw new Fault(
            "refused",
            `Cannot take a change of ${JSON.stringify(path.slice(0, 200))}: ${
              bad ?? "it is a link"
            }`,
          );
        }
        if (bytes === undefined) parts.push(encoder.encode(`D ${quoted(path)}\n`));
        else parts.push(encoder.encode(`M ${mode} inline ${quoted(path)}\n`), data(bytes));
      }
      await git("commit a change", ["fast-import", "--quiet", "--force", "--date-format=raw"], {
        input: joinBytes(parts),
      });
      const commit = await resolve(ref);
      return { commit, tree: await resolve(`${commit}^{tree}`) };
    },
    commitTree(treeName, { parent, message, at }): Promise<string> {
      const lines = [
        `tree ${treeName}`,
        `parent ${parent}`,
        ...["author", "committer"].map((who) => `${who} ${AUTHOR} ${Math.floor(at / 1_000)} +0000`),
        "",
        `${message}\n`,
      ];
      // Write the object directly in git's format, which saves a process per change.
      const body = encoder.encode(lines.join("\n"));
      const whole = joinBytes([encoder.encode(`commit ${body.length}\0`), body]);
      const commit = createHash(parent.length === 64 ? "sha256" : "sha1").update(whole).digest(
        "hex",
      );
      powers.keep(`${folder}/objects/${commit.slice(0, 2)}/${commit.slice(2)}`, deflateSync(whole));
      return Promise.resolve(commit);
    },
    async merge(ours, theirs): Promise<Merge> {
      const ran = await mergeTree(ours, theirs);
      if (ran.code === 129) {
        throw new Fault(
          "unavailable",
          "Cannot merge: git here is older than 2.38; install a newer one",
        );
      }
      const [treeName = "", ...paths] = textOf(ran.stdout).split("\0").filter((part) =>
        part !== ""
      );
      if (ran.code === 1) return { kind: "conflict", paths: [...new Set(paths)].sort() };
      if (ran.code !== 0 || !OID.test(treeName)) {
        throw new Fault("upstream", `Cannot merge: git names no tree (exit ${ran.code})`);
      }
      return { kind: "merged", tree: treeName };
    },
    async differences(from, to): Promise<readonly Difference[]> {
      const ran = await git("compare", [
        "diff-tree",
        "-r",
        "-z",
        "--raw",
        "--no-renames",
        "--no-abbrev",
        from,
        to,
      ]);
      return parseRaw(textOf(ran.stdout));
    },
    async diff(from, to): Promise<string> {
      const flags = [
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--submodule=short",
      ];
      return textOf(
        (await git("show a change", ["diff-tree", "-r", "-p", ...flags, from, to])).stdout,
      );
    },
  });
}

const AUTHOR = "Remit <remit@localhost>";

/** A path quoted for fast-import. */
function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}

function data(bytes: Uint8Array): Uint8Array {
  return joinBytes([encoder.encode(`data ${bytes.length}\n`), bytes, encoder.encode("\n")]);
}

/** Parses the output of `git cat-file --batch`. */
function parseBatch(bytes: Uint8Array, count: number): readonly Uint8Array[] {
  const found: Uint8Array[] = [];
  for (let at = 0; found.length < count;) {
    const end = bytes.indexOf(10, at);
    const [, type, size = ""] = textOf(bytes.subarray(at, end < 0 ? at : end)).split(" ");
    const length = Number(size);
    if (end < 0 || type !== "blob" || !Number.isInteger(length)) {
      throw new Fault("upstream", "Cannot read files: git's answer holds no such file");
    }
    found.push(bytes.slice(end + 1, end + 1 + length));
    at = end + length + 2;
  }
  return found;
}

/** Parses the output of `git diff-tree -r -z --raw`. */
function parseRaw(text: string): readonly Difference[] {
  const parts = text.split("\0").filter((part) => part !== "");
  const found: Difference[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [old = "", next = "", before = "", after = ""] = (parts[at] ?? "").slice(1).split(" ");
    const path = parts[at + 1] ?? "";
    const had = old === "000000" ? undefined : { blob: before, mode: old };
    const has = next === "000000" ? undefined : { blob: after, mode: next };
    found.push({
      ...{ path, state: had === undefined ? "added" : has === undefined ? "deleted" : "changed" },
      ...(had === undefined ? {} : { before: had }),
      ...(has === undefined ? {} : { after: has }),
    });
  }
  return found;
}
