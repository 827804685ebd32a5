/**
 * Background work of a service, as remit.yaml says: figures, traces, retention. Used by
 * cli/service/serve_command.ts and service/running_service.ts.
 * @module
 */
import type { Port } from "../../contracts/base/mod.ts";
import type { ServeConfig } from "../../contracts/policy/mod.ts";
import type { StateCounts } from "../../contracts/task/mod.ts";
import { metricsText, type ServiceCounts } from "./metrics.ts";
import { openTraces, type Traces } from "./traces.ts";

const DAY_MS = 86_400_000;
/** Milliseconds from a start to the first retention round. */
const FIRST_MS = 60_000;

/** The powers of {@link startStateCare}, and its settings. */
export interface StateCareParts {
  /** The kernel. */
  readonly link: Pick<Port, "ask">;
  readonly serve: Pick<ServeConfig, "metrics" | "retentionDays" | "otlp">;
  readonly version: string;
  counts(): ServiceCounts;
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs `then` once after `ms` milliseconds; the returned function cancels it. */
  after(ms: number, then: () => void): () => void;
  note(text: string): void;
}

/** Figures and traces of a running service; undefined where remit.yaml disables them. */
export interface StateCare {
  /** The figures as OpenMetrics text. */
  readonly metrics: (() => Promise<string>) | undefined;
  readonly traces: Traces | undefined;
  close(): Promise<void>;
}

/**
 * Makes the kernel archive and purge what ended more than `days` days ago; with `dryRun` the kernel
 * only counts. Returns a sentence for the operator.
 */
export async function sweepRetention(
  { link, days, now }: Pick<StateCareParts, "link" | "now"> & { readonly days: number },
  { dryRun }: { readonly dryRun: boolean },
): Promise<string> {
  const before = Math.max(0, Math.floor(now()) - days * DAY_MS);
  const { tasks, exchanges, messages = 0 } = Object(await link.ask("retain", { before, dryRun }));
  const what = `${String(tasks)} tasks, ${String(exchanges)} exchanges, ${
    dryRun ? "and messages" : `${String(messages)} messages`
  } that ended before ${new Date(before).toISOString().slice(0, 10)}`;
  return `retention: ${what} ${dryRun ? "would be erased" : "were erased; their chains stay"}`;
}

/** Sweeps once a day until it is closed. */
function startRetention(parts: StateCareParts, days: number): { close(): void } {
  let cancel: (() => void) | undefined;
  let closed = false;
  const round = async (): Promise<void> => {
    try {
      parts.note(await sweepRetention({ ...parts, days }, { dryRun: false }));
    } catch (error) {
      parts.note(`retention: ${error instanceof Error ? error.message : String(error)}`);
    }
    wait(DAY_MS);
  };
  const wait = (ms: number): void => {
    if (!closed) cancel = parts.after(ms, () => void round());
  };
  wait(FIRST_MS);
  return Object.freeze({
    close(): void {
      closed = true;
      cancel?.();
    },
  });
}

/** Starts counting, tracing and the daily retention round, as far as `serve` enables them. */
export function startStateCare(parts: StateCareParts): StateCare {
  const { link, serve, version, now, after, note } = parts;
  const startedAt = now();
  const retention = serve.retentionDays === undefined
    ? undefined
    : startRetention(parts, serve.retentionDays);
  const traces = serve.otlp === undefined
    ? undefined
    : openTraces({ link, after, note, endpoint: serve.otlp, version });
  const metrics = async (): Promise<string> => {
    // TRUST: the kernel's own answer.
    const state = await link.ask("counts", null) as unknown as StateCounts;
    return metricsText({ state, counts: parts.counts(), startedAt, version });
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
