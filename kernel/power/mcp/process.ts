/**
 * A server on this machine and its bridge: bytes pass between them unread, with backpressure, and
 * neither outlives the other. docs/decision/0015.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import type { Child } from "../../core/child/child.ts";
import type { PipedProcess } from "../../core/child/mcp_pipe_powers.ts";
import { howEnded } from "../../core/start/spawn.ts";

/** Pieces of output that the bridge has not processed yet. */
const MAX_OUTSTANDING = 4;
/** Bytes queued for a server that does not read its input; more ends it. */
const MAX_UNREAD = 32 * 1_048_576;
/** Last bytes of standard error that are kept. */
const MAX_ERRORS = 16_384;
/** UTF-16 units of the last line of standard error in messages. */
const MAX_LAST_LINE = 500;
/** Milliseconds for a server to end after closing its output. */
const CLOSED_MS = 500;
/** Deno's own warning in every server. */
const EXPERIMENTAL = "Warning Permission broker is an experimental feature\n";

/** The last bytes of a server's standard error: untrusted text. */
export interface ErrorTail {
  hear(chunk: Uint8Array): void;
  text(): string;
  /** Number of all bytes written. */
  bytes(): number;
  /** The last non-empty line, cut. */
  last(): string;
}

/** Makes an empty tail. */
export function makeErrorTail(): ErrorTail {
  let kept = new Uint8Array(0), total = 0;
  const text = (): string => {
    const text = new TextDecoder().decode(kept);
    return text.startsWith(EXPERIMENTAL) ? text.slice(EXPERIMENTAL.length) : text;
  };
  return Object.freeze<ErrorTail>({
    hear(chunk): void {
      total += chunk.length;
      const both = new Uint8Array(kept.length + chunk.length);
      both.set(kept);
      both.set(chunk, kept.length);
      kept = both.slice(-MAX_ERRORS);
    },
    text,
    bytes: () => total,
    last: () => text().trim().split("\n").at(-1)?.slice(0, MAX_LAST_LINE) ?? "",
  });
}

/** A server and its bridge. */
export interface McpProcess {
  /** Pids of the server and of the bridge. */
  readonly osPids: readonly number[];
  /** Writes to the server's input. Rejects with `gone`; `tooLarge` when the server does not read, which ends both. */
  send(text: string): Promise<void>;
  /** Ends both; resolves once they are reaped. `why` becomes the reason of `ended`, unless they ended before. */
  end(why: string): Promise<void>;
  /** Resolves with the reason once both are reaped. Text after a colon is untrusted. */
  readonly ended: Promise<string>;
}

/** A bridge and a server to join. */
export interface McpPair {
  readonly bridge: Child;
  readonly server: PipedProcess;
  readonly errors: Pick<ErrorTail, "last">;
  readonly powers: Pick<Powers, "after">;
  /** The server's output is not read before this resolves. When it rejects, the caller must end both. */
  readonly checked: Promise<void>;
}

/** Connects a server and its bridge. */
export function joinMcp({ bridge, server, errors, powers, checked }: McpPair): McpProcess {
  const encoder = new TextEncoder();
  let unread = 0, over: string | undefined;

  const kill = (why: string): void => {
    over ??= why;
    server.kill();
    void bridge.kill();
  };

  const relay = async (): Promise<void> => {
    // Not fatal: invalid UTF-8 spoils one line, which the bridge reports.
    const decoder = new TextDecoder();
    const under = new Set<Promise<unknown>>();
    await checked;
    for (;;) {
      const chunk = await server.read();
      if (chunk === null) break;
      const text = decoder.decode(chunk, { stream: true });
      if (text === "") continue;
      const taken = bridge.port.ask("bytes", { text }).finally(() => under.delete(taken));
      under.add(taken);
      // All fail when the bridge ends; the awaited one reports it.
      taken.catch(unlessFault);
      if (under.size >= MAX_OUTSTANDING) await Promise.race(under);
    }
    await Promise.all(under);
  };

  const ended = (async (): Promise<string> => {
    const bridgeEnd = bridge.exited.then((status) => `its bridge ended (${howEnded(status)})`);
    const serverEnd = (async () => {
      await relay().catch(unlessFault);
      // The server has closed its output.
      server.hangUp();
      const disarm = powers.after(CLOSED_MS, server.kill);
      const how = howEnded(await server.exited);
      disarm();
      const last = errors.last();
      const why = `its process ended (${how})${last === "" ? "" : `: ${last}`}`;
      over ??= why;
      // The bridge fails its open requests with its own messages, and is then killed anyway.
      await Promise.race([bridge.port.ask("ended", { why }).catch(unlessFault), waited(powers)]);
      return why;
    })();
    kill(await Promise.race([serverEnd, bridgeEnd]));
    await Promise.all([bridge.exited, server.exited]);
    return over ?? "it ended";
  })();

  return Object.freeze<McpProcess>({
    osPids: [server.pid, bridge.osPid],
    async send(text): Promise<void> {
      const bytes = encoder.encode(text);
      unread += bytes.length;
      if (unread > MAX_UNREAD) {
        kill("it does not read its input");
        throw new Fault("tooLarge", "Cannot send to a server: it does not read its input");
      }
      try {
        await server.write(bytes);
      } catch (cause) {
        throw new Fault("gone", "Cannot send to a server: its input is closed", { cause });
      } finally {
        unread -= bytes.length;
      }
    },
    async end(why): Promise<void> {
      kill(why);
      await ended;
    },
    ended,
  });
}

/** A bridge whose server is remote. */
export function aloneMcp({ bridge, powers }: Pick<McpPair, "bridge" | "powers">): McpProcess {
  let over: string | undefined;
  const ended = bridge.exited.then((status) => over ?? `its bridge ended (${howEnded(status)})`);
  return Object.freeze<McpProcess>({
    osPids: [bridge.osPid],
    send: () => Promise.reject(new Fault("refused", "Cannot send to a server: it has a URL")),
    async end(why): Promise<void> {
      if (over === undefined) {
        over = why;
        // The bridge closes its session at the server, if it can.
        await Promise.race([bridge.port.ask("close", null).catch(unlessFault), waited(powers)]);
      }
      await bridge.kill();
      await ended;
    },
    ended,
  });
}

function waited(powers: Pick<Powers, "after">): Promise<void> {
  return new Promise((resolve) => void powers.after(CLOSED_MS, resolve));
}

/** Ignores faults of an ended bridge, which `ended` reports. */
/** Ignores a fault, but no other error. */
export function unlessFault(error: unknown): void {
  if (!(error instanceof Fault)) throw error;
}
