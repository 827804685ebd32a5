/**
 * What a service does beside its surfaces: figures, traces, retention, as remit.yaml says.
 * @module
 */
import type { KernelLink } from "../../hands.ts";
import { recordOf } from "../../command.ts";
import type { ServeConfig, StateCounts } from "../../../contracts/mod.ts";
import { VERSION } from "../../version.ts";
import { metricsText, type ServiceCounts } from "./metrics.ts";
import { openTraces, type Traces } from "../trace/traces.ts";

// Once a day, what is over for longer than remit.yaml says is archived and purged. Chains stay.

const DAY_MS = 86_400_000;
/** After a start: what waits for the service comes first. */
const FIRST_MS = 60_000;

/** What the daily round is handed. */
export interface RetentionParts {
  readonly link: Pick<KernelLink, "ask">;
  /** `serve.retentionDays`. */
  readonly days: number;
  /** Milliseconds since 1970. */
  now(): number;
  after(ms: number, then: () => void): () => void;
  note(text: string): void;
}

/** Asks the kernel once; with `dryRun` it only counts. Answers a sentence. */
export async function sweepRetention(
  { link, days, now }: Pick<RetentionParts, "link" | "days" | "now">,
  { dryRun }: { readonly dryRun: boolean },
): Promise<string> {
  const before = Math.max(0, Math.floor(now()) - days * DAY_MS);
  const { tasks, exchanges, messages = 0 } = recordOf(await link.ask("retain", { before, dryRun }));
  const what = `${String(tasks)} tasks, ${String(exchanges)} exchanges, ${
    dryRun ? "and messages" : `${String(messages)} messages`
  } that ended before ${new Date(before).toISOString().slice(0, 10)}`;
  return `retention: ${what} ${dryRun ? "would be erased" : "were erased; their chains stay"}`;
}

/** Starts the daily round. */
function startRetention(parts: RetentionParts): { close(): void } {
  let cancel: (() => void) | undefined;
  let closed = false;
  const round = async (): Promise<void> => {
    try {
      parts.note(await sweepRetention(parts, { dryRun: false }));
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
