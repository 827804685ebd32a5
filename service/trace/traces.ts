/**
 * Traces of ended tasks, sent to an OpenTelemetry collector by the net service. OTLP 1.x over HTTP
 * in JSON, ids in hex. An id is the digest of what it names, so that a span that is sent twice
 * remains one span.
 * @module
 */
import { createHash } from "node:crypto";
import { Fault, type Port } from "../../contracts/base/mod.ts";
import type { TaskSpan } from "../../contracts/task/mod.ts";

/** A caller's trace, from its `traceparent` header: spans link to it; it is never their parent. */
export interface TraceLink {
  readonly traceId: string;
  readonly spanId: string;
}

/** One task as a trace. */
export interface TracedTask {
  readonly task: string;
  /** The task's own span first. */
  readonly spans: readonly TaskSpan[];
  readonly link?: TraceLink;
}

const INTERNAL = 1;
const CLIENT = 3;
const STATUS_ERROR = 2;
const STATUS_OK = 1;
const NANOS = 1_000_000n;

const hex = (text: string, digits: number): string =>
  createHash("sha256").update(`remit trace\n${text}`).digest("hex").slice(0, digits);

/** Reads a `traceparent` of W3C Trace Context; undefined for any other text. */
export function readTraceparent(text: string | undefined): TraceLink | undefined {
  const [, traceId, spanId] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(text ?? "") ??
    [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return /^0+$/.test(traceId) || /^0+$/.test(spanId) ? undefined : { traceId, spanId };
}

const nanos = (ms: number): string => String(BigInt(Math.trunc(ms)) * NANOS);

function value(of: string | number | boolean): object {
  if (typeof of === "string") return { stringValue: of };
  if (typeof of === "boolean") return { boolValue: of };
  return Number.isSafeInteger(of) ? { intValue: String(of) } : { doubleValue: of };
}

const attributes = (of: Readonly<Record<string, string | number | boolean>>): readonly object[] =>
  Object.entries(of).map(([key, each]) => ({ key, value: value(each) }));

function nameOf({ kind, attributes: { tool, model, channel } }: TaskSpan): string {
  if (kind === "call") return `call ${String(tool ?? "?")}`;
  if (kind === "inference") return `inference ${String(model ?? "?")}`;
  return kind === "task" ? `task ${String(channel ?? "?")}` : kind;
}

function spanJson({ task, link }: TracedTask, span: TaskSpan): object {
  const own = span.kind === "task";
  return {
    traceId: hex(task, 32),
    spanId: hex(`${task}\n${span.kind}\n${span.id}`, 16),
    ...(own ? {} : { parentSpanId: hex(`${task}\ntask\n${task}`, 16) }),
    name: nameOf(span),
    kind: span.kind === "inference" ? CLIENT : INTERNAL,
    startTimeUnixNano: nanos(span.from),
    endTimeUnixNano: nanos(Math.max(span.from, span.to)),
    attributes: attributes({
      "remit.task": task,
      ...Object.fromEntries(
        Object.entries(span.attributes).map(([name, each]) => [`remit.${name}`, each]),
      ),
    }),
    status: { code: span.ok ? STATUS_OK : STATUS_ERROR },
    ...(own && link !== undefined ? { links: [link] } : {}),
  };
}

/** The body of one export: `resourceSpans`, JSON text. */
export function otlpBody(
  traces: readonly TracedTask[],
  service: { readonly name: string; readonly version: string },
): string {
  return JSON.stringify({
    resourceSpans: [{
      resource: {
        attributes: attributes({
          "service.name": service.name,
          "service.version": service.version,
        }),
      },
      scopeSpans: [{
        scope: { name: "remit", version: service.version },
        spans: traces.flatMap((trace) => trace.spans.map((span) => spanJson(trace, span))),
      }],
    }],
  });
}

/** Where traces go: the endpoint itself if it has a path, else its `/v1/traces`. */
export function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  return url.pathname === "/" ? new URL("/v1/traces", url).href : url.href;
}

/** The powers of {@link openTraces}, and where traces go. */
export interface TracesParts {
  /** The kernel. */
  readonly link: Pick<Port, "ask">;
  /** `serve.otlp`. */
  readonly endpoint: string;
  readonly version: string;
  after(ms: number, then: () => void): () => void;
  note(text: string): void;
}

/** Traces of one service. */
export interface Traces {
  /** Notes that a task began for a caller's trace. */
  began(task: string, link: TraceLink | undefined): void;
  /** Sends the tasks that have ended since the last flush. Never rejects. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const EVERY_MS = 5_000;
/** Maximum tasks and spans of one export: keeps its body under the net service's limit. */
const MAX_TASKS = 64;
const MAX_SPANS = 4_000;
/** Maximum links that wait for the end of their task. */
const MAX_LINKS = 4_096;
const SERVICE = "remit";

/** Sends every task that ends from now on, every five seconds. */
export function openTraces(parts: TracesParts): Traces {
  const { link, endpoint, version, note } = parts;
  const url = tracesUrl(endpoint);
  const links = new Map<string, TraceLink>();
  let place: number | null = null;
  let cancel: (() => void) | undefined;
  let closed = false;
  let failing = false;
  let lastRound: Promise<void> = Promise.resolve();

  const spansOf = async (task: string): Promise<readonly TaskSpan[]> => {
    const answer = await link.ask("spans", { task });
    // TRUST: the kernel's own answer.
    return Array.isArray(answer) ? answer as unknown as readonly TaskSpan[] : [];
  };
  const send = async (traces: readonly TracedTask[]): Promise<void> => {
    const { status } = Object(
      await link.ask("deliver", {
        url,
        headers: { "content-type": "application/json" },
        body: otlpBody(traces, { name: SERVICE, version }),
        origins: [new URL(url).origin],
      }),
    );
    if (typeof status !== "number" || status >= 300) {
      throw new Fault("upstream", `the collector answers ${String(status)}`);
    }
  };
  const batches = async (tasks: readonly string[]): Promise<void> => {
    let batch: TracedTask[] = [];
    let spans = 0;
    for (const task of tasks) {
      const found = links.get(task);
      links.delete(task);
      const of = {
        task,
        spans: await spansOf(task),
        ...(found === undefined ? {} : { link: found }),
      };
      if (batch.length > 0 && (batch.length >= MAX_TASKS || spans + of.spans.length > MAX_SPANS)) {
        await send(batch);
        [batch, spans] = [[], 0];
      }
      batch.push(of);
      spans += of.spans.length;
    }
    if (batch.length > 0) await send(batch);
  };
  const round = async (): Promise<void> => {
    const { tasks, next } = Object(await link.ask("ended", { after: place }));
    place = typeof next === "number" ? next : null;
    const ended = Array.isArray(tasks) ? tasks.map(String) : [];
    try {
      if (ended.length > 0) await batches(ended);
      failing = false;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      // Nothing is kept for an unreachable collector; the operator is told once.
      if (!failing) note(`traces: ${ended.length} tasks were not told: ${error.message}`);
      failing = true;
    }
  };
  const flush = (): Promise<void> => {
    lastRound = lastRound.then(round).catch((error: unknown) => {
      if (!closed) note(`traces: ${error instanceof Error ? error.message : String(error)}`);
    });
    return lastRound;
  };
  const wait = (): void => {
    if (!closed) cancel = parts.after(EVERY_MS, () => void flush().then(wait));
  };
  void flush().then(wait);

  return Object.freeze<Traces>({
    began(task, other): void {
      if (other === undefined) return;
      if (links.size >= MAX_LINKS) links.clear();
      links.set(task, other);
    },
    flush,
    async close(): Promise<void> {
      cancel?.();
      await flush();
      closed = true;
    },
  });
}
