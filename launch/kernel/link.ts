/** A session with a kernel, over any pair of byte streams. @module */
import * as z from "zod";
import { Fault, type Json } from "../../contracts/base/mod.ts";
import { CONTROL_VERSION } from "../../contracts/wire/mod.ts";
import { makePort } from "../../port/mod.ts";
import type { KernelLink } from "./kernels.ts";

const Welcome = z.object({
  version: z.int(),
  harness: z.string().max(256),
  pid: z.int(),
  receiptKey: z.string().max(64),
  // Kernels of earlier versions do not send these.
  rules: z.string().max(64).default(""),
  head: z.string().max(64),
  secrets: z.string().max(64).default(""),
});

/** The byte stream of a session. */
export interface Wire {
  write(bytes: Uint8Array): void;
  close(): void;
  /** Calls `take` with each chunk, and `end` once at the end. */
  onBytes(take: (bytes: Uint8Array) => void, end: () => void): void;
}

/**
 * Opens a session with a kernel. A lost connection asks `whyEnded` for a reason that a person can act on.
 *
 * @throws Fault `unavailable` for a kernel of another version; `gone` when the kernel ended.
 */
export async function greet(
  wire: Wire,
  harness: string,
  whyEnded: () => string | undefined = () => undefined,
): Promise<KernelLink> {
  let listener: ((op: string, body: Json) => void) | undefined;
  const early: [string, Json][] = [];
  const port = makePort({
    write: (bytes) => wire.write(bytes),
    // A kernel is trusted and answers with whole documents.
    limits: { frameBytes: 64_000_000, nodes: 4_000_000, framesPerSecond: 1_000_000 },
    handler: {
      ask: (op) => {
        throw new Fault("invalidInput", `Cannot do "${op}": a command line serves nothing`);
      },
      tell(op, body): void {
        if (listener === undefined) early.push([op, body]);
        else listener(op, body);
      },
    },
  });
  wire.onBytes((bytes) => port.feed(bytes), () => {
    const why = whyEnded();
    port.close(`the kernel has ended${why === undefined ? "" : `: ${why}`}`);
  });
  void port.closed.then(() => wire.close());
  const answer = await port.ask("hello", { version: CONTROL_VERSION, harness });
  const welcome = Welcome.safeParse(answer);
  if (!welcome.success || welcome.data.version !== CONTROL_VERSION) {
    port.close("another version");
    throw new Fault(
      "unavailable",
      'Cannot talk to the kernel: it speaks another version; end it with "remit stop"',
    );
  }
  return Object.freeze({
    ask: (op: string, body: Json) => port.ask(op, body),
    onTell(next: (op: string, body: Json) => void): void {
      listener = next;
      for (const [op, body] of early.splice(0)) next(op, body);
    },
    closed: port.closed,
    close: () => port.close("done"),
    pid: welcome.data.pid,
    harness: welcome.data.harness,
    head: welcome.data.head,
    receiptKey: welcome.data.receiptKey,
    rules: welcome.data.rules,
    secrets: welcome.data.secrets,
  });
}

const AtWork = z.array(z.looseObject({ task: z.string() }));

/** Tasks with running processes; empty for a kernel with a damaged log, which runs no tasks. */
export async function tasksAtWork(link: Pick<KernelLink, "ask">): Promise<readonly string[]> {
  try {
    return [...new Set(AtWork.parse(await link.ask("ps", null)).map(({ task }) => task))];
  } catch (error) {
    if (error instanceof Fault && error.code === "storeCorrupt") return [];
    throw error;
  }
}
