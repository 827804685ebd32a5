/** Tells a collector what tasks did, when they ended. It is told by the net service, like any delivery. @module */
import { Fault, type Json, type TaskSpan } from "../../../contracts/mod.ts";
import { recordOf } from "../../command.ts";
import type { KernelLink } from "../../hands.ts";
import { otlpBody, type TracedTask, type TraceLink, tracesUrl } from "./otlp.ts";

/** What {@link openTraces} is handed. */
export interface TracesParts {
  readonly link: Pick<KernelLink, "ask">;
  /** `serve.otlp`. */
  readonly endpoint: string;
  readonly version: string;
  after(ms: number, then: () => void): () => void;
  note(text: string): void;
}

/** Traces of one service. */
export interface Traces {
  /** A task began on behalf of another's trace. */
  began(task: string, link: TraceLink | undefined): void;
  /** Sends what ended until now. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const EVERY_MS = 5_000;
/** Tasks of one export, and spans, so that a body stays under what the net service takes. */
const TASKS = 64;
const SPANS = 4_000;
/** Links that wait for their task's end. */
const MOST_LINKS = 4_096;
const SERVICE = "remit";

/** Begins to look at what ends from now on. */
export function openTraces(parts: TracesParts): Traces {
  const { link, endpoint, version, note } = parts;
  const url = tracesUrl(endpoint);
  const links = new Map<string, TraceLink>();
  let place: number | null = null;
  let cancel: (() => void) | undefined;
  let closed = false;
  let failing = false;
  let under: Promise<void> = Promise.resolve();

  const spansOf = async (task: string): Promise<readonly TaskSpan[]> => {
    const answer = await link.ask("spans", { task });
    // TRUST: the kernel's own answer.
    return Array.isArray(answer) ? answer as unknown as readonly TaskSpan[] : [];
  };
  const send = async (traces: readonly TracedTask[]): Promise<void> => {
    const { status } = recordOf(
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
      if (batch.length > 0 && (batch.length >= TASKS || spans + of.spans.length > SPANS)) {
        await send(batch);
        [batch, spans] = [[], 0];
      }
      batch.push(of);
      spans += of.spans.length;
    }
    if (batch.length > 0) await send(batch);
  };
  const round = async (): Promise<void> => {
    const answer: Json = await link.ask("ended", { after: place });
    const { tasks, next } = recordOf(answer);
    place = typeof next === "number" ? next : null;
    const ended = Array.isArray(tasks) ? tasks.map(String) : [];
    try {
      if (ended.length > 0) await batches(ended);
      failing = false;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      // A collector that is away loses its traces: nothing is kept for it, and it is said once.
      if (!failing) note(`traces: ${ended.length} tasks were not told: ${error.message}`);
      failing = true;
    }
  };
  const flush = (): Promise<void> => {
    under = under.then(round).catch((error: unknown) => {
      if (!closed) note(`traces: ${error instanceof Error ? error.message : String(error)}`);
    });
    return under;
  };
  const wait = (): void => {
    if (!closed) cancel = parts.after(EVERY_MS, () => void flush().then(wait));
  };
  void flush().then(wait);

  return Object.freeze<Traces>({
    began(task, other): void {
      if (other === undefined) return;
      if (links.size >= MOST_LINKS) links.clear();
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
