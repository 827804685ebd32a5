/**
 * One connection to a proxy: one request, or one tunnel. Connections are never kept alive. Used by
 * proxies.ts and net/service.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { NetProxied, NetProxy, NetSpend } from "../../contracts/wire/wire_net.ts";
import { firstOf } from "../address/first_of.ts";
import type { WireAnswer } from "../exchange.ts";
import type { NetPowers } from "../hops.ts";
import { portOf, vet } from "../address/vet.ts";
import { answerHead, chunkBytes, ESTABLISHED, LAST_CHUNK, refusalBytes } from "./answer.ts";
import { type Framing, parseProxyHead, type Place, type ProxyAsk } from "./head.ts";
import { type SocketEnd, type Sockets, writeAll } from "../sockets.ts";
import type { Clock } from "../clock.ts";
import { CONNECT_BYTES, headBytesOf, type Meter, metered as counted } from "./meter.ts";

/** Milliseconds for the head of a request. */
const HEAD_MS = 15_000;
/** Milliseconds without any bytes before a connection is closed. */
const IDLE_MS = 60_000;
const HOST_UNITS = 260;

/** The parts of proxies. */
export interface ProxyPowers extends NetPowers {
  readonly sockets: Sockets;
  readonly proxied: (event: NetProxied) => void;
  /** Asks the kernel to count bytes; resolves to the number counted. */
  readonly spend: (spend: NetSpend) => Promise<number>;
}

/** What one connection is served with. */
interface ConnectionParts {
  readonly powers: Pick<ProxyPowers, "clock" | "exchange" | "resolver" | "sockets">;
  readonly allow: NetProxy["allow"];
  readonly meter: Meter;
  /** Called with the result of the connection, and again if a tunnel is cut later. */
  readonly told: (what: Pick<NetProxied, "host" | "ok" | "why">) => void;
}

/** A connection that is being served. */
interface Serving extends ConnectionParts {
  readonly client: SocketEnd;
  readonly reader: ProxyReader;
  readonly signal: AbortSignal;
  readonly moved: () => void;
  readonly gone: () => void;
}

/** Serves one connection to its end, or until `abort`. Never rejects with a fault. */
export async function serveConnection(
  client: SocketEnd,
  parts: ConnectionParts,
  abort: AbortController,
): Promise<void> {
  const { clock } = parts.powers;
  const { signal } = abort;
  const late = (why: string) => (): void =>
    abort.abort(new Fault("timedOut", `Cannot serve the request: ${why}`));
  const idle = watchIdle(clock, IDLE_MS, late("nothing moved for a minute"));
  const close = (): void => client.close();
  signal.addEventListener("abort", close, { once: true });
  const reader = makeProxyReader(client, idle.moved);
  const gone = (): void =>
    abort.abort(new Fault("cancelled", "Cannot serve the request: the client is gone"));
  const serving: Serving = { ...parts, client, reader, signal, moved: idle.moved, gone };
  try {
    const forget = clock.after(HEAD_MS, late("its head did not come"));
    const head = await reader.head().finally(forget);
    if (head !== undefined) await serve(head, serving);
  } catch (error) {
    // A client that vanished needs no answer; a broken pipe shows that it did.
    if (error instanceof Fault) await writeAll(client, refusalBytes(error)).catch(() => undefined);
  } finally {
    idle.stop();
    signal.removeEventListener("abort", close);
    abort.abort(new Fault("cancelled", "Cannot serve the request: it is over"));
    client.close();
  }
}

async function serve(head: string, serving: Serving): Promise<void> {
  let host = targetIn(head);
  let reported = false;
  const tell = (ok: boolean, why?: string): void => {
    if (!reported) serving.told({ host, ok, ...(why === undefined ? {} : { why }) });
    reported = true;
  };
  try {
    const ask = parseProxyHead(head);
    host = ask.place.host;
    const addresses = await vetted(ask.place, serving);
    if (ask.kind === "tunnel") await tunnel(ask.place, addresses, { ...serving, tell });
    else await forward(ask, addresses, { ...serving, tell });
  } catch (error) {
    if (error instanceof Fault) tell(false, error.message);
    else tell(false, "the connection broke");
    throw error;
  }
}

/** The target of an unparsed head, as far as it may be shown. */
function targetIn(head: string): string {
  const target = head.split("\r\n", 1)[0]?.split(" ")[1] ?? "";
  return target.slice(0, HOST_UNITS).replace(/[^\x21-\x7e]/g, "?");
}

async function vetted(
  { host, url }: Place,
  { allow, powers, signal }: Serving,
): Promise<readonly string[]> {
  const granted = allow.find((each) => each.host === host);
  if (granted === undefined) {
    throw new Fault("refused", `Cannot connect to "${host}": that host was not granted`);
  }
  const origins = [{ origin: url.origin, named: granted.named }];
  return await vet(url, { resolver: powers.resolver, allow: origins, signal });
}

interface Telling extends Serving {
  readonly tell: (ok: boolean, why?: string) => void;
}

async function tunnel(
  { host, url }: Place,
  addresses: readonly string[],
  { client, reader, powers, signal, moved, tell, meter, told }: Telling,
): Promise<void> {
  const port = portOf(url);
  await meter.spend(CONNECT_BYTES);
  const { got: peer } = await firstOf(addresses, (address, connectMs) =>
    powers.sockets.connect(
      { address, port, ...(connectMs === undefined ? {} : { connectMs }) },
      signal,
    ));
  const close = (): void => peer.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    tell(true);
    await writeAll(client, ESTABLISHED, moved);
    const metered: Pick<SocketEnd, "write" | "closeWrite"> = {
      async write(bytes) {
        await meter.spend(bytes.length);
        await writeAll(peer, bytes, moved);
        return bytes.length;
      },
      closeWrite: () => peer.closeWrite(),
    };
    await writeAll(metered, reader.rest(), moved);
    // If one direction breaks, the other has no peer left.
    await Promise.all([pump(client, metered, moved), pump(peer, client, moved)]);
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause;
    told({ host, ok: false, why: cause.message });
    // An error answer now would land among the tunnel's own bytes.
    throw new Error("Cannot carry the tunnel on", { cause });
  } finally {
    signal.removeEventListener("abort", close);
    peer.close();
  }
}

async function pump(
  from: SocketEnd,
  to: Pick<SocketEnd, "write" | "closeWrite">,
  moved: () => void,
): Promise<void> {
  const buffer = new Uint8Array(64 * 1024);
  for (let n = await from.read(buffer); n !== null; n = await from.read(buffer)) {
    moved();
    await writeAll(to, buffer.subarray(0, n), moved);
  }
  await to.closeWrite();
}

async function forward(
  ask: Extract<ProxyAsk, { kind: "forward" }>,
  addresses: readonly string[],
  { client, reader, powers, signal, moved, gone, tell, meter }: Telling,
): Promise<void> {
  const { place: { url }, method, target, headers, framing } = ask;
  await meter.spend(CONNECT_BYTES + headBytesOf(ask));
  const length = framing.kind === "length" ? { length: framing.length } : {};
  const whole = (): void => void watchGone(client, gone);
  const body = framing.kind === "none"
    ? {}
    : { body: { bytes: thenTold(counted(reader.body(framing), meter), whole), ...length } };
  if (framing.kind === "none") whole();
  const { got: answer } = await firstOf(addresses, (address, connectMs) =>
    powers.exchange.send({
      ...{ method, url, address, target, headers, ...body },
      ...(connectMs === undefined ? {} : { connectMs }),
    }, signal));
  using open = answer;
  tell(true);
  moved();
  await answerClient(open, { ask, client, moved });
}

/** Passes bytes on and calls `whole` after the last. */
async function* thenTold(
  bytes: AsyncIterable<Uint8Array>,
  whole: () => void,
): AsyncGenerator<Uint8Array> {
  yield* bytes;
  whole();
}

/** Watches a client after its request: its end means that nobody waits for the answer. */
async function watchGone(client: SocketEnd, gone: () => void): Promise<void> {
  try {
    // Bytes of another request are not read: the client is told that the connection closes.
    if (await client.read(new Uint8Array(1)) === null) gone();
  } catch {
    // Broken, or closed by this process.
    gone();
  }
}

/** Writes the answer; a failure after the head breaks the connection, so that no end shows. */
async function answerClient(
  answer: WireAnswer,
  { ask, client, moved }: {
    readonly ask: Extract<ProxyAsk, { kind: "forward" }>;
    readonly client: SocketEnd;
    readonly moved: () => void;
  },
): Promise<void> {
  const { head, body } = answerHead(answer, ask);
  await writeAll(client, head, moved);
  if (body === "none") return;
  try {
    for await (const chunk of answer.body) {
      if (chunk.length === 0) continue;
      await writeAll(client, body === "chunked" ? chunkBytes(chunk) : chunk, moved);
    }
  } catch (cause) {
    throw new Error("Cannot hand on the answer: it ended early", { cause });
  }
  if (body === "chunked") await writeAll(client, LAST_CHUNK, moved);
}

// Detects idle connections.

/** Watches one connection. */
interface Idle {
  /** Called when bytes moved. */
  moved(): void;
  stop(): void;
}

/** Runs `late` once when no bytes moved for `ms` milliseconds. */
function watchIdle(clock: Clock, ms: number, late: () => void): Idle {
  let last = clock.now();
  let forget = clock.after(ms, look);
  function look(): void {
    const left = last + ms - clock.now();
    if (left <= 0) late();
    else forget = clock.after(left, look);
  }
  return Object.freeze<Idle>({
    moved(): void {
      last = clock.now();
    },
    stop: () => forget(),
  });
}

// Reads a client's bytes: a head, then a body with a known end. RFC 9112.

/** Maximum bytes of a head. */
export const PROXY_HEAD_BYTES = 32 * 1024;
const CHUNK = 64 * 1024;
/** Maximum digits of a chunk's size: less than 256 MiB. */
const SIZE_DIGITS = 7;

/** A client's bytes in order. */
export interface ProxyReader {
  /**
   * The head without its last empty line, Latin-1; undefined when no bytes came. @throws {Fault}
   * with `status`
   */
  head(): Promise<string | undefined>;
  /** The body. Fails with Fault `invalidInput` when it ends early or does not parse. */
  body(framing: Framing): AsyncIterable<Uint8Array>;
  /** Bytes that were read and not used: the beginning of a tunnel. */
  rest(): Uint8Array;
}

function bad(why: string, status = 400): Fault {
  return new Fault("invalidInput", `Cannot serve the request: ${why}`, { detail: { status } });
}

/** Makes a reader; `moved` is called after each read that returned bytes. */
export function makeProxyReader(from: Pick<SocketEnd, "read">, moved: () => void): ProxyReader {
  let held = new Uint8Array(0);

  /** Reads more bytes and keeps those already held; false at the end. */
  const more = async (): Promise<boolean> => {
    const room = new Uint8Array(held.length + CHUNK);
    room.set(held);
    const length = await from.read(room.subarray(held.length));
    if (length === null) return false;
    moved();
    held = room.subarray(0, held.length + length);
    return true;
  };
  const taken = (length: number): Uint8Array => {
    const bytes = held.subarray(0, length);
    held = held.subarray(length);
    return bytes;
  };

  async function head(): Promise<string | undefined> {
    for (let from = 0;;) {
      const end = endOfHead(held, from);
      if (end >= 0 && end <= PROXY_HEAD_BYTES) {
        const text = latin1(taken(end + 4).subarray(0, end));
        if (/[\0\n]|\r(?!\n)/.test(text.replaceAll("\r\n", ""))) {
          throw bad("its head does not read");
        }
        return text;
      }
      if (held.length > PROXY_HEAD_BYTES) throw bad("its head is too long", 431);
      from = Math.max(0, held.length - 3);
      const had = held.length;
      if (!await more()) {
        if (had === 0) return undefined;
        throw bad("it ended within its head");
      }
    }
  }

  async function* exactly(length: number): AsyncGenerator<Uint8Array> {
    for (let left = length; left > 0;) {
      if (held.length === 0 && !await more()) throw bad("its body ended early");
      const bytes = taken(Math.min(left, held.length));
      left -= bytes.length;
      yield bytes;
    }
  }

  /** A line without its end, of at most `max` characters. */
  async function line(max: number): Promise<string> {
    while (held.length < max + 2 && !held.includes(10)) {
      if (!await more()) throw bad("its body ended early");
    }
    const end = held.indexOf(10);
    if (end < 1 || end > max + 1 || held[end - 1] !== 13) throw bad("a chunk does not read");
    return latin1(taken(end + 1).subarray(0, end - 1));
  }

  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const size = await line(SIZE_DIGITS);
      // No extension, sign or space: another reader behind this proxy could read them differently.
      if (!/^[0-9a-fA-F]{1,7}$/.test(size)) throw bad("a chunk does not read");
      const length = parseInt(size, 16);
      yield* exactly(length);
      if (await line(0) !== "") throw bad("a chunk does not read");
      if (length === 0) return;
    }
  }

  return Object.freeze<ProxyReader>({
    head,
    body: (framing) =>
      framing.kind === "chunked"
        ? chunks()
        : exactly(framing.kind === "length" ? framing.length : 0),
    rest: () => taken(held.length),
  });
}

function endOfHead(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(13, from); at >= 0; at = bytes.indexOf(13, at + 1)) {
    if (bytes[at + 1] === 10 && bytes[at + 2] === 13 && bytes[at + 3] === 10) return at;
  }
  return -1;
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
