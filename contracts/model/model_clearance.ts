/**
 * Highest label of text that a model may receive: one rule for the gate and for a task's choice of
 * models. Used by broker/model_policy.ts.
 * @module
 */
import type { Label } from "../authority/colour.ts";

/** A model as a sink of text. */
export interface ModelSink {
  /** `KIND:REFERENCE`. */
  readonly ref: string;
  /** Whether text leaves this machine; decided by the kernel, never by the service. */
  readonly remote: boolean;
  /** The provider's host, with its port unless it is the default port. */
  readonly host?: string;
}

/** A model's clearance; `sink` is the reference or host in remit.yaml's `clearance` that decided, if any. */
export interface ModelClearance {
  readonly label: Label;
  readonly sink?: string;
}

/**
 * Makes the rule from remit.yaml's `clearance`. The first matching key decides: `model:REF`, then
 * `model:HOST`, case-insensitive. Default: internal for remote models, secret for local ones.
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
