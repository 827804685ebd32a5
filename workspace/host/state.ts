/** A toolhost's state between calls, and the particulars of one call. @module */
import type { JsonObject } from "../../contracts/base/json.ts";
import type { HostCallAnswer, SetupBody } from "../../contracts/wire/wire_toolhost.ts";
import { makeOverlay, type Overlay } from "../overlay.ts";
import { type ContentStore, makeContentStore, type Sha256, wholeOf } from "./content.ts";
import { type Files, type FileStat, FsTrouble, type ReadFiles } from "./files.ts";
import { type Judge, makeJudge, type Place } from "./judge.ts";
import { type LinkJudge, makeLinkJudge, type SecondNames } from "./links.ts";
import { CLEAN, makeTaints, mix, type Taint, type Taints } from "./taint.ts";
import {
  EXPORT_LIST,
  EXPORT_LIST_BYTES,
  type ExportClaims,
  parseExportClaims,
  WORST_CLAIMS,
} from "../../contracts/authority/export_claims.ts";

/** The powers of a toolhost program. */
export interface HostPowers {
  readonly files: Files;
  readonly sha256: Sha256;
  /** Lets a cancel arrive; long work awaits it regularly. */
  readonly breathe: () => Promise<void>;
  /** The machine's clock, in milliseconds since 1970. */
  readonly now: () => number;
  /** A named point of applying, for crash tests; absent in a real host. */
  readonly reach?: (point: string) => void;
}

/** One task's toolhost. */
export interface HostState extends HostPowers {
  readonly judge: Judge;
  readonly taints: Taints;
  readonly exports: Exports;
  /** Digests of the mounts' contents that the current call read. */
  readonly met: Set<string>;
  readonly overlay: Overlay;
  readonly content: ContentStore;
  readonly contentFolder: string;
  readonly scratch: ContentStore;
  readonly scratchQuota: number;
  /**
   * Present in a process that is confined to the current call's leases: the surveys' results, and
   * the link targets that the kernel lets the call read. Absent where the process may read all
   * mounts.
   */
  readonly told?: {
    readonly secondNames: ReadonlyMap<string, SecondNames>;
    readonly followed: ReadonlySet<string>;
  };
}

/** The current call. */
export interface HostCall {
  readonly tool: string;
  readonly args: JsonObject;
  /** Maximum number of bytes in the answer's content. */
  readonly bytes: number;
  /** Idempotency key. */
  readonly key: string;
  /** Taint of the calling process. */
  readonly caller: Taint;
  readonly signal: AbortSignal;
  readonly links: LinkJudge;
  /** Milliseconds since 1970 after which a call that can return a partial result does so. */
  readonly until: number;
}

/** Runs a tool in the host. Throws Fault. */
export type HostTool = (
  state: HostState,
  call: HostCall,
) => HostCallAnswer | Promise<HostCallAnswer>;

/** Makes the state of one task from its setup. */
export function makeHostState(setup: SetupBody, powers: HostPowers): HostState {
  const judge = makeJudge(setup);
  return Object.freeze({
    ...powers,
    judge,
    taints: makeTaints(setup),
    exports: makeExports(powers.files),
    met: new Set<string>(),
    overlay: makeOverlay(setup.overlay),
    content: makeContentStore(powers.files, setup.content, powers.sha256),
    contentFolder: setup.content,
    scratch: makeContentStore(powers.files, setup.scratch, powers.sha256),
    scratchQuota: setup.scratchQuota,
  });
}

/** A link judge for one call: its findings are not kept, because files change. */
export function linksOf(state: HostState): LinkJudge {
  return makeLinkJudge(state.files, state.judge, state.told?.secondNames);
}

// Exports of wikis in a mount: a list beside the files gives each file's taint by digest, and can
// only worsen it. A folder is checked for a list once; an existing list is checked at each call.

/** Reads the export lists of the mounts. */
interface Exports {
  /** The taint that the lists above a file, within its mount, give its content. */
  of(place: Place, digest: string): Taint;
  /** The worst taint in a folder's own list; clean without a list. */
  all(folder: string): Taint;
  /** Notes that a folder has a list, which may be newer than the last check. */
  met(folder: string): void;
}

interface Known {
  readonly mark: string;
  readonly claims: ExportClaims;
}

/** Makes the reader without any known list. */
function makeExports(files: ReadFiles): Exports {
  const known = new Map<string, Known | null>();

  const look = (folder: string): ExportClaims | undefined => {
    const before = known.get(folder);
    if (before === null) return undefined;
    const path = `${folder}/${EXPORT_LIST}`;
    let found: Known | null = null;
    try {
      const stat = files.stat(path);
      // A link would lead to another folder's list.
      if (stat?.kind === "file") {
        const mark = markOf(stat);
        if (before?.mark === mark) return before.claims;
        const claims = read(path, stat);
        if (claims !== undefined) found = { mark, claims };
      }
    } catch (error) {
      if (!(error instanceof FsTrouble)) throw error;
    }
    known.set(folder, found);
    return found?.claims;
  };

  const read = (path: string, stat: FileStat): ExportClaims | undefined => {
    if (stat.bytes > EXPORT_LIST_BYTES) return WORST_CLAIMS;
    const file = files.open(path);
    try {
      return parseExportClaims(wholeOf(file, stat.bytes));
    } finally {
      file.close();
    }
  };

  return Object.freeze<Exports>({
    of({ mount, path }, digest) {
      let taint = CLEAN;
      for (let depth = path.parts.length - 1; depth >= 0; depth--) {
        const claims = look([mount.root, ...path.parts.slice(0, depth)].join("/"));
        const isList = depth === path.parts.length - 1 && path.parts[depth] === EXPORT_LIST;
        // The list itself carries the taint of all its files.
        const claim = isList ? claims?.all : claims?.of(digest);
        if (claim !== undefined) taint = mix(taint, claim);
      }
      return taint;
    },
    all: (folder) => look(folder)?.all ?? CLEAN,
    met: (folder) => void (known.get(folder) === null && known.delete(folder)),
  });
}

function markOf({ dev, ino, bytes, modifiedMs, changedMs }: FileStat): string {
  return [dev, ino, bytes, modifiedMs, changedMs].join(":");
}
