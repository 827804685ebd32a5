/**
 * Spans as OTLP over HTTP writes them in JSON. Ids are made of what they name, so that what is sent twice is the same
 * span. OTLP 1.x, protocol buffers' JSON with hex ids.
 * @module
 */
import { createHash } from "node:crypto";
import type { TaskSpan } from "../../../contracts/mod.ts";

/** A trace of another's, as its header says: data, never a parent. */
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

const hex = (text: string, letters: number): string =>
  createHash("sha256").update(`remit trace\n${text}`).digest("hex").slice(0, letters);

/** Reads a `traceparent` of W3C Trace Context; undefined for what is none. */
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

/** Where traces go: the endpoint itself where it names a path, else its `/v1/traces`. */
export function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  return url.pathname === "/" ? new URL("/v1/traces", url).href : url.href;
}
