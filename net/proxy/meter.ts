/**
 * What the connections of one proxy may send where budgets hold for it: bytes are asked of the kernel before they leave,
 * in steps, so that what was sent and is not on record is nothing.
 * @module
 */
import type { NetSpend } from "../../contracts/wire/wire_net.ts";
import type { ProxyAsk } from "./head.ts";

/** Bytes of the packets by which a connection begins and ends, about: a connection that sends nothing tells something, too. */
export const CONNECT_BYTES = 256;
/** Smallest and largest step, bytes. */
const FIRST = 4 * 1024, LARGEST = 256 * 1024;

/** Bytes that all connections of a proxy may send together. */
export interface Meter {
  /** Resolves once so many bytes may leave. Rejects as the kernel refuses: then nothing may. */
  spend(bytes: number): Promise<void>;
}

/** A meter of proxies that no budget holds for. */
export const UNMETERED: Meter = Object.freeze({ spend: () => Promise.resolve() });

/**
 * Makes one; `ask` gives how many bytes the kernel counted, `need` at least. A step is as long as all that was sent so
 * far, within bounds: what is counted is never more than twice what was sent, and the first step.
 */
export function makeMeter(
  ask: (spend: Omit<NetSpend, "id">) => Promise<number>,
): Meter {
  let left = 0, sent = 0;
  /** One connection asks at a time: two would each be given a step. */
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
        // Others may have taken of it meanwhile.
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

/** About what the head of a request takes on its way. */
export function headBytesOf(
  { method, target, headers }: Extract<ProxyAsk, { kind: "forward" }>,
): number {
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    values.map((value) => name.length + value.length + 4)
  );
  return lines.reduce((sum, each) => sum + each, method.length + target.length + 15);
}

/** What was read, each piece once it may leave. */
export async function* metered(
  bytes: AsyncIterable<Uint8Array>,
  meter: Meter,
): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    await meter.spend(piece.length);
    yield piece;
  }
}
