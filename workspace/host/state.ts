/** What a toolhost knows between calls, and what one call brings. @module */
import type { JsonObject } from "../../contracts/json.ts";
import type { HostCallAnswer, SetupBody } from "../../contracts/wire_toolhost.ts";
import { makeOverlay, type Overlay } from "../overlay.ts";
import { type ContentStore, makeContentStore, type Sha256 } from "./content.ts";
import { type Exports, makeExports } from "./exports.ts";
import type { Files } from "./files.ts";
import { type Judge, makeJudge } from "./judge.ts";
import { type LinkJudge, makeLinkJudge, type SecondNames } from "./links.ts";
import { makeTaints, type Taint, type Taints } from "./taint.ts";

/** What a toolhost program is handed. */
export interface HostPowers {
  readonly files: Files;
  readonly sha256: Sha256;
  /** Lets a cancel arrive; long work awaits it now and then. */
  readonly breathe: () => Promise<void>;
  /** The machine's clock, in milliseconds since 1970. */
  readonly now: () => number;
  /** A named point of applying, for crash tests; does nothing in a real host. */
  readonly reach?: (point: string) => void;
}

/** One task's toolhost. */
export interface HostState extends HostPowers {
  readonly judge: Judge;
  readonly taints: Taints;
  readonly exports: Exports;
  /** Contents of the mounts that the call under way read, by digest. */
  readonly met: Set<string>;
  readonly overlay: Overlay;
  readonly content: ContentStore;
  readonly contentFolder: string;
  readonly scratch: ContentStore;
  readonly scratchQuota: number;
  /**
   * What a call of a process that is held to the call's own leases knows beside its arguments: what
   * surveys found, and the paths that the kernel let it follow links to. Absent where all of the mounts
   * may be looked at.
   */
  readonly told?: {
    readonly secondNames: ReadonlyMap<string, SecondNames>;
    readonly followed: ReadonlySet<string>;
  };
}

/** One call under way. */
export interface HostCall {
  readonly tool: string;
  readonly args: JsonObject;
  /** Most bytes of the answer's content. */
  readonly bytes: number;
  /** Idempotency key. */
  readonly key: string;
  /** Of the calling process. */
  readonly caller: Taint;
  readonly signal: AbortSignal;
  readonly links: LinkJudge;
  /** Milliseconds since 1970 after which a call that can give a part gives what it has. */
  readonly until: number;
}

/** A tool's work in the host. Throws Fault. */
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

/** A link judge for one call: what it learned is not kept, for files change. */
export function linksOf(state: HostState): LinkJudge {
  return makeLinkJudge(state.files, state.judge, state.told?.secondNames);
}
