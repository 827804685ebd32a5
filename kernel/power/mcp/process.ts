/**
 * A server of this machine and the bridge that speaks to it: bytes pass between them unread, no faster than either
 * takes them in, and neither outlives the other. docs/decision/0015.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import type { Child } from "../../core/child/child.ts";
import type { PipedProcess } from "../../core/child/mcp_pipe_powers.ts";
import { howEnded } from "../../core/start/spawn.ts";

/** Pieces of output that the bridge was given and has not taken in. */
const OUTSTANDING = 4;
/** Bytes for a server that does not read its input; more ends it. */
const UNREAD = 32 * 1_048_576;
/** Bytes of standard error that are kept: the last. */
const ERRORS = 16_384;
/** Most UTF-16 units of its last line that are told. */
const LAST_LINE = 500;
/** Milliseconds that a server which closed its output may take to end. */
const CLOSED_MS = 500;
/** What Deno itself says in every server. */
const EXPERIMENTAL = "Warning Permission broker is an experimental feature\n";

/** The last bytes of a server's standard error: untrusted text. */
export interface ErrorTail {
  hear(chunk: Uint8Array): void;
  text(): string;
  /** Of all that it wrote. */
  bytes(): number;
  /** Its last line that says something, cut. */
  last(): string;
}

/** Makes an empty tail. */
export function makeErrorTail(): ErrorTail {
  let kept = new Uint8Array(0), total = 0;
  const text = (): string => {
    const said = new TextDecoder().decode(kept);
    return said.startsWith(EXPERIMENTAL) ? said.slice(EXPERIMENTAL.length) : said;
  };
  return Object.freeze<ErrorTail>({
    hear(chunk): void {
      total += chunk.length;
      const both = new Uint8Array(kept.length + chunk.length);
      both.set(kept);
      both.set(chunk, kept.length);
      kept = both.slice(-ERRORS);
    },
    text,
    bytes: () => total,
    last: () => text().trim().split("\n").at(-1)?.slice(0, LAST_LINE) ?? "",
  });
}

/** Both processes, while they live. */
export interface McpProcess {
  /** Of the server, and of the bridge. */
  readonly osPids: readonly number[];
  /** Writes to the server's input. Rejects with `gone`; `tooLarge` when it does not read, which ends both. */
  send(text: string): Promise<void>;
  /** Ends both; resolves when they are reaped. `why` is what `ended` tells, if nothing ended them before. */
  end(why: string): Promise<void>;
  /** Resolves when both are reaped, with why, in words. What stands after a colon is untrusted text. */
  readonly ended: Promise<string>;
}

/** What {@link joinMcp} joins. */
export interface McpPair {
  readonly bridge: Child;
  readonly server: PipedProcess;
  readonly errors: Pick<ErrorTail, "last">;
  readonly powers: Pick<Powers, "after">;
  /** Nothing that the server says is heard before this resolves. Where it rejects whoever joined them ends them. */
  readonly checked: Promise<void>;
}

/** Lets a server and its bridge hear each other. */
export function joinMcp({ bridge, server, errors, powers, checked }: McpPair): McpProcess {
  const encoder = new TextEncoder();
  let unread = 0, over: string | undefined;

  const kill = (why: string): void => {
    over ??= why;
    server.kill();
    void bridge.kill();
  };

  const relay = async (): Promise<void> => {
    // Not fatal: what is no UTF-8 is a fault of one line, which the bridge says.
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
      // Each fails when the bridge ends, and one of them is heard of.
      taken.catch(gone);
      if (under.size >= OUTSTANDING) await Promise.race(under);
    }
    await Promise.all(under);
  };

  const ended = (async (): Promise<string> => {
    const bridgeEnd = bridge.exited.then((status) => `its bridge ended (${howEnded(status)})`);
    const serverEnd = (async () => {
      await relay().catch(gone);
      // It has nothing more to say.
      server.hangUp();
      const disarm = powers.after(CLOSED_MS, server.kill);
      const how = howEnded(await server.exited);
      disarm();
      const last = errors.last();
      const why = `its process ended (${how})${last === "" ? "" : `: ${last}`}`;
      over ??= why;
      // It settles what it waits for, in its own words, and is ended all the same.
      await Promise.race([bridge.port.ask("ended", { why }).catch(gone), waited(powers)]);
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
      if (unread > UNREAD) {
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

/** A bridge whose server is elsewhere. */
export function aloneMcp({ bridge, powers }: Pick<McpPair, "bridge" | "powers">): McpProcess {
  let over: string | undefined;
  const ended = bridge.exited.then((status) => over ?? `its bridge ended (${howEnded(status)})`);
  return Object.freeze<McpProcess>({
    osPids: [bridge.osPid],
    send: () => Promise.reject(new Fault("refused", "Cannot send to a server: it has a URL")),
    async end(why): Promise<void> {
      if (over === undefined) {
        over = why;
        // A session that the server keeps for us is given back, as far as it goes.
        await Promise.race([bridge.port.ask("close", null).catch(gone), waited(powers)]);
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

/** The bridge has ended, which `ended` tells of. */
function gone(error: unknown): void {
  if (!(error instanceof Fault)) throw error;
}
