/** One end of a session whose peer is the test. @module */
import assert from "node:assert/strict";
import type { Json } from "../../contracts/base/json.ts";
import type { Port, PortHandler, PortLimits } from "../../contracts/base/port.ts";
import type { FaultCode } from "../../contracts/base/fault.ts";
import { makePort } from "../mod.ts";

/** Bytes that the test sends. */
export const encoder = new TextEncoder();

/** A port of alice's whose peer is the test: the bytes that it writes, and the notices that it received. */
export function alone(parts: {
  limits?: Partial<PortLimits>;
  handler?: Partial<PortHandler>;
  now?: () => number;
} = {}): { port: Port; written: string[]; told: Json[]; feed: (text: string) => void } {
  const written: string[] = [];
  const told: Json[] = [];
  const port = makePort({
    write: (bytes) => void written.push(new TextDecoder().decode(bytes)),
    handler: {
      ask: (_op, body) => body,
      tell: (op, body) => void told.push([op, body]),
      ...parts.handler,
    },
    limits: parts.limits ?? {},
    ...(parts.now === undefined ? {} : { now: parts.now }),
  });
  return { port, written, told, feed: (text) => port.feed(encoder.encode(text)) };
}

/** Waits for the end of `port` and checks its reason. */
export async function closesWith(port: Port, code: FaultCode): Promise<void> {
  assert.equal((await port.closed).code, code);
}
