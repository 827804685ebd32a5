/** One connection to a proxy: one request, or one tunnel, and its end. Nothing is kept alive. @module */
import { Fault } from "../../contracts/fault.ts";
import type { NetProxied, NetProxy } from "../../contracts/wire_net.ts";
import { firstOf } from "../address/first_of.ts";
import type { WireAnswer } from "../exchange.ts";
import type { NetPowers } from "../hops.ts";
import { watchIdle } from "../idle.ts";
import { portOf } from "../address/ports.ts";
import { answerHead, chunkBytes, ESTABLISHED, LAST_CHUNK, refusalBytes } from "./answer.ts";
import { parseProxyHead, type Place, type ProxyAsk } from "./head.ts";
import { makeProxyReader, type ProxyReader } from "./reader.ts";
import { type SocketEnd, type Sockets, writeAll } from "../sockets.ts";
import { vet } from "../address/vet.ts";

/** Milliseconds for the head of a request. */
const HEAD_MS = 15_000;
/** Milliseconds in which nothing moves. */
const IDLE_MS = 60_000;
const HOST_UNITS = 260;

/** What proxies are made of. */
export interface ProxyPowers extends NetPowers {
  readonly sockets: Sockets;
  /** Tells the kernel. */
  readonly proxied: (event: NetProxied) => void;
}

/** What one connection is served with. */
export interface ConnectionParts {
  readonly powers: Pick<ProxyPowers, "clock" | "exchange" | "resolver" | "sockets">;
  readonly allow: NetProxy["allow"];
  /** Hears once what became of it. */
  readonly told: (what: Pick<NetProxied, "host" | "ok" | "why">) => void;
}

/** A connection that is under way. */
interface Serving extends ConnectionParts {
  readonly client: SocketEnd;
  readonly reader: ProxyReader;
  readonly signal: AbortSignal;
  readonly moved: () => void;
  readonly gone: () => void;
}

/** Serves one connection to its end, which `abort` brings about earlier. Never rejects with a fault. */
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
    // A peer that vanished needs no answer, and a broken pipe is its way to say so.
    if (error instanceof Fault) await writeAll(client, refusalBytes(error)).catch(() => undefined);
  } finally {
    idle.stop();
    signal.removeEventListener("abort", close);
    abort.abort(new Fault("cancelled", "Cannot serve the request: it is over"));
    client.close();
  }
}

async function serve(head: string, serving: Serving): Promise<void> {
  let host = shown(head);
  let told = false;
  const tell = (ok: boolean, why?: string): void => {
    if (!told) serving.told({ host, ok, ...(why === undefined ? {} : { why }) });
    told = true;
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

/** What an unread head asks for, as far as it may be shown. */
function shown(head: string): string {
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
  { url }: Place,
  addresses: readonly string[],
  { client, reader, powers, signal, moved, tell }: Telling,
): Promise<void> {
  const port = portOf(url);
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
    await writeAll(peer, reader.rest(), moved);
    // Where one way breaks, the other has nobody to talk to.
    await Promise.all([pump(client, peer, moved), pump(peer, client, moved)]);
  } finally {
    signal.removeEventListener("abort", close);
    peer.close();
  }
}

async function pump(from: SocketEnd, to: SocketEnd, moved: () => void): Promise<void> {
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
  { client, reader, powers, signal, moved, gone, tell }: Telling,
): Promise<void> {
  const { place: { url }, method, target, headers, framing } = ask;
  const length = framing.kind === "length" ? { length: framing.length } : {};
  const whole = (): void => void watchGone(client, gone);
  const body = framing.kind === "none"
    ? {}
    : { body: { bytes: thenTold(reader.body(framing), whole), ...length } };
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

/** Hears `whole` at the end of what was read. */
async function* thenTold(
  bytes: AsyncIterable<Uint8Array>,
  whole: () => void,
): AsyncGenerator<Uint8Array> {
  yield* bytes;
  whole();
}

/** After its request a client has nothing to say: its end means that nobody waits for the answer. */
async function watchGone(client: SocketEnd, gone: () => void): Promise<void> {
  try {
    // Bytes of another request are not read further: it is told that the connection is closed.
    if (await client.read(new Uint8Array(1)) === null) gone();
  } catch {
    // Broken, or closed by ourselves.
    gone();
  }
}

/** Writes the answer; what fails after its head breaks the connection, so that the client sees no end. */
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
