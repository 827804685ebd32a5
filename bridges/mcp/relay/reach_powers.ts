/** The net service's socket, reached also where many others reach for it. @module */

/** Milliseconds for which it is tried again, and between two tries. */
const PATIENCE_MS = 5_000;
const AGAIN_MS = 20;

/** Connects to the unix socket. Undefined when nobody listens there, or takes nobody for `patienceMs`. */
export async function reach(
  path: string,
  { patienceMs = PATIENCE_MS }: { readonly patienceMs?: number } = {},
): Promise<Deno.UnixConn | undefined> {
  for (const before = performance.now();;) {
    try {
      return await Deno.connect({ transport: "unix", path });
    } catch (error) {
      const full = error instanceof Deno.errors.WouldBlock;
      if (!full || performance.now() - before >= patienceMs) return undefined;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
