/** A name server on loopback that answers as a test specifies. @module */
import { Buffer } from "node:buffer";
import { createSocket } from "node:dgram";

/** An answer: addresses, `none` for an unknown name, `silence`. */
export type Told = readonly string[] | "none" | "silence";

/** A running name server. */
export interface NameServer extends AsyncDisposable {
  readonly nameServer: { readonly ipAddr: string; readonly port: number };
  /** Every question so far, such as `A name`. */
  readonly asked: readonly string[];
}

const TYPES: Readonly<Record<number, string>> = { 1: "A", 28: "AAAA" };

/** Starts a name server on a free port. IPv6 addresses are given as eight groups of hex digits. */
export async function startNameServer(
  tell: (type: string, name: string) => Told,
): Promise<NameServer> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  socket.on("message", (query: Buffer, from) => {
    const { name, end } = nameOf(query);
    const type = TYPES[query.readUInt16BE(end)] ?? "other";
    asked.push(`${type} ${name}`);
    const told = tell(type, name);
    if (told === "silence") return;
    const records = told === "none" ? [] : told.map(record);
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(told === "none" ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    socket.send(
      Buffer.concat([head, query.subarray(12, end + 4), ...records]),
      from.port,
      from.address,
    );
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    nameServer: { ipAddr: "127.0.0.1", port: socket.address().port },
    asked,
    [Symbol.asyncDispose]: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function nameOf(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join("."), end: at + 1 };
}

function record(address: string): Buffer {
  const four = address.includes(".");
  const bytes = four
    ? Buffer.from(address.split(".").map(Number))
    : Buffer.from(address.split(":").map((group) => group.padStart(4, "0")).join(""), "hex");
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(four ? 1 : 28, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(3_600, 6);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, bytes]);
}
