/**
 * A bare mirror of one commit of a person's repository, with a configuration of its own: changes become commits, commits
 * are merged, and one branch of it moves by compare-and-swap. No hook, filter, attribute or submodule runs anything:
 * no file is ever checked out by git.
 * @module
 */
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { Fault } from "../contracts/base/mod.ts";
import type { Loop, Ran } from "./run_powers.ts";
import type { GitRoom, Planted, SwarmPowers } from "./swarm_powers.ts";
import { badPath, type FileTree, parseTree, staysInside, type TreeFile } from "./tree_files.ts";
import type { FoundBase } from "./repository.ts";

/** One file of a change; absent bytes: it is deleted. */
export interface FileChange {
  readonly path: string;
  readonly bytes?: Uint8Array;
  /** A new file may be run. One that is there keeps its mode. */
  readonly executable?: boolean;
}

/** A commit and its tree, by name. */
export interface Committed {
  readonly commit: string;
  readonly tree: string;
}

/** What a three-way merge came to. */
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
  /** Removes a lock of the branch that a killed process left. For the only one who writes to the mirror. */
  mend(): Promise<void>;
  /** The commit that the branch stands at. */
  tip(): Promise<string>;
  /** Moves the branch, if it still stands at `from`; false otherwise. */
  swap(to: string, from: string): Promise<boolean>;
  tree(commit: string): Promise<FileTree>;
  treeOf(commit: string): Promise<string>;
  /** Files of a tree with their bytes; links that might lead out are left out. */
  planted(files: readonly TreeFile[]): AsyncGenerator<Planted>;
  /** Contents by blob, in this order. */
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
  /** Commits a tree as the only child of `parent`. The same words at the same time are the same commit. */
  commitTree(
    tree: string,
    what: { readonly parent: string; readonly message: string; readonly at: number },
  ): Promise<string>;
  /** One at a time. */
  merge(ours: string, theirs: string): Promise<Merge>;
  differences(from: string, to: string): Promise<readonly Difference[]>;
  /** A unified diff, for people and reviewers: untrusted text. */
  diff(from: string, to: string): Promise<string>;
  /** Ends what is kept running for merges. */
  close(): Promise<void>;
}

/** The branch that reviewed changes are merged into. */
const BRANCH = "refs/heads/swarm";
const BASE = "refs/heads/base";
const OID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

const MERGE = ["merge-tree", "--write-tree", "--name-only", "-z", "--no-messages"];

const encoder = new TextEncoder();
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Makes it, over the folder of a bare repository that `take` makes. */
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
    // Words of a line that is read by a shell.
    if (![ours, theirs].every((each) => OID.test(each))) throw new TypeError("no name of a commit");
    for (let tries = 0;; tries++) {
      merges ??= powers.gitLoop(room, MERGE);
      try {
        return await (await merges).ask(`${ours} ${theirs}`);
      } catch (error) {
        await close();
        if (error instanceof Fault) throw error;
        // One that was killed while nothing was asked of it is no reason to give up; a merge writes nothing that stands.
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
      // Its parents stay where they are: a mirror needs no history, and a shallow or a long one costs the same.
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
      // Without the repository beside it: what is not in the pack is missing here already.
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
        input: joined(parts),
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
      // As git keeps an object: one process less for each change.
      const body = encoder.encode(lines.join("\n"));
      const whole = joined([encoder.encode(`commit ${body.length}\0`), body]);
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

/** A path as fast-import reads it, whatever is in it. */
function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}

function data(bytes: Uint8Array): Uint8Array {
  return joined([encoder.encode(`data ${bytes.length}\n`), bytes, encoder.encode("\n")]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Reads `git cat-file --batch`. */
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

/** Reads `git diff-tree -r -z --raw`. */
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
