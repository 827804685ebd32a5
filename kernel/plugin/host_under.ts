/** A call of a plugin under way: what it may do, and what it has read so far. @module */
import {
  type Colour,
  type EffectClass,
  type HostFunction,
  type Label,
  mixColour,
  mixLabel,
  type ProcessKeeper,
  type ProcessRow,
  type Scope,
  type Source,
  type Taint,
} from "../../contracts/mod.ts";

/** What one call of a plugin may do. See tools-wasm/binding. */
export interface Grants {
  readonly functions: ReadonlySet<HostFunction>;
  readonly reads: readonly Scope[];
  readonly writes: readonly string[];
  readonly origin?: string;
}

/** How far something is trusted, and how confidential it is. */
export interface Carried {
  readonly colour: Colour;
  readonly label: Label;
}

/** A call of a plugin under way, with what it has read so far. */
export interface Under {
  readonly plugin: string;
  readonly callId: string;
  readonly process: ProcessRow;
  readonly grants: Grants;
  /** The gate let it through as this. */
  readonly effect: EffectClass;
  readonly signal: AbortSignal;
  colour: Colour;
  label: Label;
  sources: readonly Source[];
  /** As what the gate judged it. */
  readonly judged: Carried;
  /** That, and what it read since: what its requests carry. */
  sent: Carried;
  /** Host calls served. */
  served: number;
}

/** Takes down what a call has read; `sent` is what its requests carry of it, all of it when absent. */
export type HasRead = (under: Under, what: Taint, sent?: Carried) => void;

/** What says nothing that was not known. */
export const NOTHING_NEW: Carried = Object.freeze({ colour: "BLUE", label: "public" });

/**
 * Makes what falls on a call and at once on its process, so that what the call does next is judged with
 * it: a change, another tool, an inference (test: "a mail's words would have lost their colour …").
 */
export function makeHasRead(processes: Pick<ProcessKeeper, "taint">): HasRead {
  return (under, what, sent = what) => {
    under.colour = mixColour(under.colour, what.colour);
    under.label = mixLabel(under.label, what.label);
    under.sources = [...under.sources, ...what.sources].slice(-100);
    under.sent = {
      colour: mixColour(under.sent.colour, sent.colour),
      label: mixLabel(under.sent.label, sent.label),
    };
    processes.taint(under.process.pid, what);
  };
}
