/**
 * Meters the bytes that the connections of a proxy send under a budget: the kernel counts bytes
 * before they leave, in steps, so that no sent byte is missing from its record. Used by
 * connection.ts and proxies.ts.
 * @module
 */
import type { NetSpend } from "../../contracts/wire/wire_net.ts";
import type { ProxyAsk } from "./head.ts";

/**
 * Approximate bytes of the packets that open and close a connection: even a connection that sends
 * nothing reveals something.
 */
export const CONNECT_BYTES = 256;
/** Smallest and largest step, in bytes. */
const FIRST = 4 * 1024, LARGEST = 256 * 1024;

/** The allowance of all connections of a proxy together. */
export interface Meter {
  /** Resolves when `bytes` more may leave. Rejects with the kernel's refusal: then none may. */
  spend(bytes: number): Promise<void>;
}

/** The meter of proxies without a budget. */
export const UNMETERED: Meter = Object.freeze({ spend: () => Promise.resolve() });

/**
 * Makes a meter; `ask` resolves to the bytes that the kernel counted, at least `need`. A step equals
 * the bytes sent so far, within bounds, so that the count exceeds twice the sent bytes by at most
 * the first step.
 */
export function makeMeter(
  ask: (spend: Omit<NetSpend, "id">) => Promise<number>,
): Meter {
  let left = 0, sent = 0;
  // One connection asks at a time, or each of two would get a step.
  let turn: Promise<unknown> = Promise.resolve();
  const spend = (bytes: number): boolean => {
    if (bytes > left) return false;
    left -= bytes;
    sent += bytes;
    return true;
  };
  return Object.freeze<Meter>({
    async spend(bytes): Promise<void> {
      if (spend(bytes)) return;
      const asked = turn.then(async () => {
        // Other connections may have used up the step meanwhile.
        while (!spend(bytes)) {
          const need = bytes - left;
          const step = Math.max(FIRST, Math.min(LARGEST, sent));
          left += await ask({ need, most: Math.max(need, step) });
        }
      });
      turn = asked.catch(() => undefined);
      await asked;
    },
  });
}

/** Approximate bytes of a request's head. */
export function headBytesOf(
  { method, target, headers }: Extract<ProxyAsk, { kind: "forward" }>,
): number {
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    values.map((value) => name.length + value.length + 4)
  );
  return lines.reduce((sum, each) => sum + each, method.length + target.length + 15);
}

/** The same pieces, each when it may leave. */
export async function* metered(
  bytes: AsyncIterable<Uint8Array>,
  meter: Meter,
): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    await meter.spend(piece.length);
    yield piece;
  }
}
