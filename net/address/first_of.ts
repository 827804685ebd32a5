/** Sends to the first address that connects. For hops.ts and proxy/connection.ts. @module */
import { Fault } from "../../contracts/base/fault.ts";

/** Milliseconds for an address to answer while another address is left to try. */
const CONNECT_MS = 5_000;
const TRIED = 4;

/**
 * Tries vetted addresses in turn: the next one only if nothing was sent to the one before, so that
 * a request is never sent twice. `connectMs` is absent for the last address.
 * @throws {Fault} the last attempt's fault
 */
export async function firstOf<T>(
  addresses: readonly string[],
  attempt: (address: string, connectMs?: number) => Promise<T>,
): Promise<{ readonly address: string; readonly got: T }> {
  const tried = addresses.slice(0, TRIED);
  for (const [index, address] of tried.entries()) {
    const last = index === tried.length - 1;
    try {
      return { address, got: await (last ? attempt(address) : attempt(address, CONNECT_MS)) };
    } catch (error) {
      const unsent = error instanceof Fault && error.detail?.["connected"] === false;
      if (last || !unsent) throw error;
    }
  }
  throw new TypeError("Cannot send: no address was vetted");
}
