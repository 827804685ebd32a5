/** Reads a client's bytes: a head, then a body whose end is known. RFC 9112. @module */
import { Fault } from "../../contracts/fault.ts";
import type { Framing } from "./head.ts";
import type { SocketEnd } from "../sockets.ts";

/** Bytes of a head, at most. */
export const PROXY_HEAD_BYTES = 32 * 1024;
const CHUNK = 64 * 1024;
/** Digits of a chunk's size: less than 256 MiB. */
const SIZE_DIGITS = 7;

/** A client's bytes in order. */
export interface ProxyReader {
  /** The head without its last empty line, Latin-1; undefined when nothing at all came. @throws {Fault} with `status`. */
  head(): Promise<string | undefined>;
  /** The body, to its end. Fails with Fault `invalidInput` when it ends early or does not read. */
  body(framing: Framing): AsyncIterable<Uint8Array>;
  /** What was read and not used: the begin of a tunnel. */
  rest(): Uint8Array;
}

function bad(why: string, status = 400): Fault {
  return new Fault("invalidInput", `Cannot serve the request: ${why}`, { detail: { status } });
}

/** Makes a reader; `moved` hears of each read that brought something. */
export function makeProxyReader(from: Pick<SocketEnd, "read">, moved: () => void): ProxyReader {
  let held = new Uint8Array(0);

  /** Reads on; false at the end. What is held before stays only if `keep` is set. */
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

  /** A line without its end, at most so long. */
  async function line(most: number): Promise<string> {
    while (held.length < most + 2 && !held.includes(10)) {
      if (!await more()) throw bad("its body ended early");
    }
    const end = held.indexOf(10);
    if (end < 1 || end > most + 1 || held[end - 1] !== 13) throw bad("a chunk does not read");
    return latin1(taken(end + 1).subarray(0, end - 1));
  }

  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const size = await line(SIZE_DIGITS);
      // No extension, no sign, no space: whoever reads behind us could read them otherwise.
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
