/**
 * Determines what exactly a workspace call would touch: scopes, effect, digests, changes. Used by
 * undo.ts and workspace.ts.
 * @module
 */
import { type Colour, type Label, mixColour, mixLabel } from "../contracts/authority/colour.ts";
import { Fault } from "../contracts/base/fault.ts";
import type { JsonObject } from "../contracts/base/json.ts";
import type { Scope } from "../contracts/authority/lease.ts";
import type { Resolved } from "../contracts/task/power.ts";
import type { Mount, StagedChange } from "../contracts/tool/workspace.ts";
import type { Ledger } from "./ledger.ts";
import { patchDigest } from "./patch.ts";
import {
  checkNewName,
  checkWritableName,
  formsOf,
  type NamedPath,
  parsePath,
  SCRATCH,
} from "./path.ts";

/** What resolving needs. */
export interface ResolveParts {
  readonly mounts: ReadonlyMap<string, Mount>;
  readonly ledger: Ledger;
  executes(path: string): boolean;
}

/** Colour and label of the calling process. */
export interface Caller {
  readonly colour: Colour;
  readonly label: Label;
}

/** Resolves a call of one tool. Throws Fault `invalidArguments`, `notFound`, `refused`. */
export type Resolver = (parts: ResolveParts, args: JsonObject, caller: Caller) => Resolved;

/** A path in a summary: quoted and cut. */
function quoted(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
}

function pathIn(args: JsonObject): NamedPath {
  const path = args["path"];
  if (typeof path !== "string") {
    throw new Fault("invalidArguments", `Cannot use argument "path": it is not a text`);
  }
  return parsePath(path);
}

function mountOf(parts: Pick<ResolveParts, "mounts">, path: NamedPath): Mount {
  const mount = parts.mounts.get(path.mount);
  if (mount !== undefined) return mount;
  const names = [...parts.mounts.keys()].join(", ") || "none";
  throw new Fault(
    "notFound",
    `Cannot use path ${quoted(path.text)}: no mount "${path.mount}" (there are: ${names})`,
  );
}

/** The scope of reading a path. Throws Fault `notFound` when there is no such mount. */
export function readScope(parts: Pick<ResolveParts, "mounts">, path: NamedPath): Scope {
  if (path.mount === SCRATCH) return { resource: "scratch", right: "read", path: "" };
  mountOf(parts, path);
  return { resource: "mount", right: "read", path: path.text };
}

function plain(
  summary: string,
  what: { readonly scopes: readonly Scope[]; readonly caller: Caller },
  effect: Resolved["effect"],
): Resolved {
  const { colour, label } = what.caller;
  return { scopes: what.scopes, effect, digests: {}, colour, label, summary, idempotent: true };
}

/** Resolves a tool that reads `path`, or all mounts when `path` is absent. */
export function reading(verb: string): Resolver {
  return (parts, args, caller) => {
    if (args["path"] === undefined) {
      if (parts.mounts.size === 0) {
        throw new Fault("notFound", `Cannot ${verb} all mounts: there is no mount`);
      }
      const scopes = [...parts.mounts.keys()].map((name): Scope => ({
        resource: "mount",
        right: "read",
        path: name,
      }));
      return plain(`${verb} all mounts`, { scopes, caller }, "read");
    }
    const path = pathIn(args);
    const scopes = [path, ...formsOf(path)].map((each) => readScope(parts, each));
    return plain(`${verb} ${quoted(path.text)}`, { scopes, caller }, "read");
  };
}

/** Resolves a tool that changes the file `path`: staged, or at once where the mount is `rw`. */
export function changing(verb: string): Resolver {
  return (parts, args, caller) => {
    const path = pathIn(args);
    checkWritableName(path);
    if (path.mount === SCRATCH) {
      throw new Fault("refused", `Cannot ${verb} ${quoted(path.text)}: use scratch_write for it`);
    }
    const mount = mountOf(parts, path);
    if (mount.mode === "ro") {
      throw new Fault(
        "refused",
        `Cannot ${verb} ${quoted(path.text)}: mount "${path.mount}" is read-only ` +
          `(ask the operator for --mount ${path.mount}=DIR:stage)`,
      );
    }
    const names = [path, ...formsOf(path)].map(({ text }) => text);
    const reads = names.map((name): Scope => ({ resource: "mount", right: "read", path: name }));
    if (mount.mode === "stage") {
      const resolved = plain(
        `stage: ${verb} ${quoted(path.text)}`,
        { scopes: reads, caller },
        "stage",
      );
      return { ...resolved, stages: names };
    }
    const scopes = [...reads, ...reads.map((read): Scope => ({ ...read, right: "write" }))];
    const resolved = plain(
      `${verb} ${quoted(path.text)} at once`,
      { scopes, caller },
      "mutateLocal",
    );
    return parts.executes(path.text) ? { ...resolved, executes: [path.text] } : resolved;
  };
}

/** `scratch_write`. */
export const scratchWriting: Resolver = (_parts, args, caller) => {
  const path = pathIn(args);
  checkNewName(path);
  if (path.mount !== SCRATCH) {
    throw new Fault(
      "invalidArguments",
      `Cannot write ${quoted(path.text)}: scratch_write takes a path in ${SCRATCH}/`,
    );
  }
  const scopes: readonly Scope[] = [
    { resource: "scratch", right: "read", path: "" },
    { resource: "scratch", right: "write", path: "" },
  ];
  return plain(`write ${quoted(path.text)}`, { scopes, caller }, "stage");
};

/** `outbox_publish`. */
export const publishing: Resolver = (parts, args, caller) => {
  const path = pathIn(args);
  const name = args["name"];
  // deno-lint-ignore no-control-regex -- this pattern looks for control characters
  if (typeof name === "string" && /[/\\\u0000-\u001f\u007f]/.test(name)) {
    throw new Fault(
      "invalidArguments",
      'Cannot publish: "name" is a plain file name, without a path',
    );
  }
  const scopes: readonly Scope[] = [
    readScope(parts, path),
    { resource: "outbox", right: "write", path: "" },
  ];
  return plain(`put a copy of ${quoted(path.text)} in the outbox`, { scopes, caller }, "stage");
};

/** The staged changes that `patch_apply` names. */
function chosen(ledger: Ledger, args: JsonObject): readonly StagedChange[] {
  const staged = ledger.staged();
  const paths = args["paths"];
  if (staged.length === 0) {
    throw new Fault("notFound", "Cannot apply a patch: nothing is staged");
  }
  if (paths === undefined) return staged;
  if (!Array.isArray(paths) || paths.length === 0) {
    throw new Fault("invalidArguments", `Cannot use argument "paths": it is not a list of paths`);
  }
  const wanted = new Set(paths.map((path) => parsePath(String(path)).text));
  const found = staged.filter(({ path }) => wanted.has(path));
  if (found.length === wanted.size) return found;
  const there = new Set(found.map(({ path }) => path));
  const missing = [...wanted].filter((path) => !there.has(path)).slice(0, 5).map(quoted);
  throw new Fault("notFound", `Cannot apply a patch: nothing is staged for ${missing.join(", ")}`);
}

/** What applying these changes requires, for `patch_apply` and for undo. */
export function resolveChanges(
  parts: Pick<ResolveParts, "executes">,
  changes: readonly StagedChange[],
  caller: Caller,
): Resolved {
  const scopes = changes.flatMap(({ path }): readonly Scope[] => [
    { resource: "mount", right: "read", path },
    { resource: "mount", right: "write", path },
  ]);
  let { colour, label } = caller;
  for (const change of changes) {
    colour = mixColour(colour, change.colour);
    label = mixLabel(label, change.label);
  }
  const deleted = changes.filter(({ next }) => next === undefined).length;
  const made = changes.filter(({ base }) => base === undefined).length;
  const counts = [
    [made, "new"],
    [changes.length - made - deleted, "changed"],
    [deleted, "deleted"],
  ] as const;
  const words = counts.flatMap(([count, word]) => count === 0 ? [] : [`${count} ${word}`]);
  const executes = changes.map(({ path }) => path).filter(parts.executes);
  return {
    scopes,
    effect: "mutateLocal",
    digests: { patch: patchDigest(changes) },
    colour,
    label,
    summary: `apply staged changes: ${words.join(", ")}`,
    changes,
    ...(executes.length === 0 ? {} : { executes }),
    idempotent: true,
  };
}

/** `patch_apply`. */
export const applying: Resolver = (parts, args, caller) =>
  resolveChanges(parts, chosen(parts.ledger, args), caller);
