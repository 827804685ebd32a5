/** How confidential a text a model may be sent: one rule for the gate and for what a task is handed. @module */
import type { Label } from "../authority/colour.ts";

/** A model as a sink of text. */
export interface ModelSink {
  /** `KIND:REFERENCE`. */
  readonly ref: string;
  /** Text leaves this machine: as the kernel decided, never as the service says. */
  readonly remote: boolean;
  /** The provider's host, with its port where it is not the usual one. */
  readonly host?: string;
}

/** A clearance; `sink` is the reference or host that `clearance` of remit.yaml names, absent where it names neither. */
export interface ModelClearance {
  readonly label: Label;
  readonly sink?: string;
}

/**
 * Reads `clearance` of remit.yaml. Keys, the first that is there: `model:REF`, then `model:HOST`; case
 * does not count. Else remote models are cleared for internal, local ones for secret.
 */
export function makeModelClearance(
  clearance: Readonly<Record<string, Label>>,
): (model: ModelSink) => ModelClearance {
  const written = new Map(
    Object.entries(clearance).map(([sink, label]) => [sink.toLowerCase(), label]),
  );
  return ({ ref, remote, host }) => {
    for (const sink of [ref, ...(host === undefined ? [] : [host])]) {
      const label = written.get(`model:${sink}`.toLowerCase());
      if (label !== undefined) return { label, sink };
    }
    return { label: remote ? "internal" : "secret" };
  };
}
