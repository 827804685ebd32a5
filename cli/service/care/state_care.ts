/** What a service does beside its surfaces: figures, traces, retention, as remit.yaml says. @module */
import type { ServeConfig, StateCounts } from "../../../contracts/mod.ts";
import type { KernelLink } from "../../hands.ts";
import { VERSION } from "../../version.ts";
import { metricsText, type ServiceCounts } from "./metrics.ts";
import { startRetention } from "./retention.ts";
import { openTraces, type Traces } from "../trace/traces.ts";

/** What {@link startStateCare} is handed. */
export interface StateCareParts {
  readonly link: Pick<KernelLink, "ask">;
  readonly serve: Pick<ServeConfig, "metrics" | "retentionDays" | "otlp">;
  counts(): ServiceCounts;
  /** Milliseconds since 1970. */
  now(): number;
  after(ms: number, then: () => void): () => void;
  note(text: string): void;
}

/** It, under way. */
export interface StateCare {
  /** Undefined where remit.yaml wants none. */
  readonly metrics: (() => Promise<string>) | undefined;
  readonly traces: Traces | undefined;
  close(): Promise<void>;
}

/** Starts it. */
export function startStateCare(parts: StateCareParts): StateCare {
  const { link, serve, now, after, note } = parts;
  const startedAt = now();
  const retention = serve.retentionDays === undefined
    ? undefined
    : startRetention({ link, now, after, note, days: serve.retentionDays });
  const traces = serve.otlp === undefined
    ? undefined
    : openTraces({ link, after, note, endpoint: serve.otlp, version: VERSION });
  const metrics = async (): Promise<string> => {
    // TRUST: the kernel's own answer.
    const state = await link.ask("counts", null) as unknown as StateCounts;
    return metricsText({ state, counts: parts.counts(), startedAt, version: VERSION });
  };
  return Object.freeze<StateCare>({
    metrics: serve.metrics === false ? undefined : metrics,
    traces,
    async close(): Promise<void> {
      retention?.close();
      await traces?.close();
    },
  });
}
