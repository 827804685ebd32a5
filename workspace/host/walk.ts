/** Walks a folder as the agent sees it: sorted, bounded, staged changes merged in. @module */
import { EXPORT_LIST } from "../../contracts/authority/export_claims.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { HostMount } from "../../contracts/wire/wire_toolhost.ts";
import type { StagedChange } from "../../contracts/tool/workspace.ts";
import { byText } from "../overlay.ts";
import { DEPTH_LIMIT, type NamedPath, SCRATCH } from "../path.ts";
import { about } from "./_trouble.ts";
import { FsTrouble, type Kind } from "./files.ts";
import { resolvePlace } from "./open.ts";
import type { HostCall, HostState } from "./state.ts";
import { stagedTree } from "./view.ts";

/** Maximum number of entries of one walk. */
const WALK_LIMIT = 300_000;

/** An entry of a walk. */
export interface Met {
  /** `MOUNT/relative`. */
  readonly text: string;
  readonly parts: readonly string[];
  readonly kind: Kind;
  readonly depth: number;
  /** The real path; undefined for an entry that is only staged. */
  readonly full: string | undefined;
  readonly mount: HostMount | undefined;
  readonly change: StagedChange | undefined;
}

/** What a walk left out. */
export interface LeftOut {
  /** Folders that could not be read. */
  unreadable: number;
  /** True if the walk ended at {@link WALK_LIMIT} entries. */
  cut: boolean;
  /** Folders too deep for tools to name their contents. */
  deep: number;
}

/** An empty count. */
export function nothingLeftOut(): LeftOut {
  return { unreadable: 0, cut: false, deep: 0 };
}

/** Reports what was left out, a line each. `verb`: what was not done, such as "searched". */
export function sayLeftOut({ unreadable, cut, deep }: LeftOut, verb: string): string[] {
  return [
    ...(cut ? [`[the folder is too large to be ${verb} to its end]`] : []),
    ...(deep > 0
      ? [`[${deep} folders lie deeper than ${DEPTH_LIMIT} levels; what is in them was not ${verb}]`]
      : []),
    ...(unreadable > 0 ? [`[${unreadable} files or folders could not be read]`] : []),
  ];
}

interface Child {
  readonly name: string;
  readonly kind: Kind;
  readonly change: StagedChange | undefined;
  readonly onDisk: boolean;
}

/**
 * Walks `start` down to `depth` levels, in the order of names. Skips never-listed names and `.git`;
 * yields links without following them.
 *
 * @throws Fault `notFound`, `refused`, `invalidArguments` when `start` is not a folder
 */
export function* walk(
  state: HostState,
  call: HostCall,
  from: { readonly start: NamedPath; readonly depth: number; readonly left: LeftOut },
): Generator<Met> {
  const { start, left } = from;
  const staged = stagedTree(state);
  const place = start.mount === SCRATCH ? undefined : startPlace(state, call, start, staged);
  const root = place?.path ?? start;
  let met = 0;

  const childrenOf = (text: string, full: string | undefined, top: boolean): Child[] => {
    const children = new Map<string, Child>();
    if (full !== undefined) {
      try {
        for (const entry of state.files.list(full)) {
          children.set(entry.name, { ...entry, change: undefined, onDisk: true });
          if (entry.name === EXPORT_LIST) state.exports.met(full);
        }
      } catch (error) {
        if (!(error instanceof FsTrouble)) throw error;
        if (top) about("list", text, () => state.files.list(full));
        left.unreadable++;
      }
    }
    for (const [name, child] of staged.get(text) ?? []) {
      const change = child === "folder" ? undefined : child;
      const onDisk = children.has(name);
      if (change !== undefined && change.next === undefined) children.delete(name);
      else if (!onDisk || change !== undefined) {
        const kind = change === undefined ? "folder" : "file";
        children.set(name, { name, kind, change, onDisk });
      }
    }
    return [...children.values()].sort((a, b) => byText(a.name, b.name));
  };

  const folder = function* (
    at: { text: string; parts: readonly string[]; full: string | undefined; depth: number },
  ): Generator<Met> {
    for (const child of childrenOf(at.text, at.full, at.depth === 1)) {
      if (child.name === ".git" || child.name.startsWith(".remit-")) continue;
      const parts = [...at.parts, child.name];
      if (state.judge.neverNext(root.mount, parts)) continue;
      if (++met > WALK_LIMIT) {
        left.cut = true;
        return;
      }
      const text = `${at.text}/${child.name}`;
      const full = at.full !== undefined && child.onDisk ? `${at.full}/${child.name}` : undefined;
      const { kind, change } = child;
      yield { text, parts, kind, depth: at.depth, full, mount: place?.mount, change };
      if (kind === "folder" && parts.length + 1 >= DEPTH_LIMIT) left.deep++;
      else if (kind === "folder" && at.depth < from.depth) {
        yield* folder({ text, parts, full, depth: at.depth + 1 });
        if (left.cut) return;
      }
    }
  };
  yield* folder({ text: root.text, parts: root.parts, full: place?.full, depth: 1 });
}

function startPlace(
  state: HostState,
  call: HostCall,
  start: NamedPath,
  staged: ReadonlyMap<string, unknown>,
): { path: NamedPath; mount: HostMount; full: string | undefined } {
  try {
    const place = resolvePlace({ ...state, links: call.links }, start);
    const kind = about("list", start.text, () => state.files.stat(place.full))?.kind;
    if (kind === "folder") return place;
    throw new Fault("invalidArguments", `Cannot list "${start.text}": it is not a folder`);
  } catch (error) {
    // A folder may exist only in staged changes.
    const isStaged = staged.has(start.text);
    if (!isStaged || !(error instanceof Fault) || error.code !== "notFound") throw error;
    return { path: start, mount: state.judge.readable(start).mount, full: undefined };
  }
}
