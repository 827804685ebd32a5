/**
 * A network path between kernels and their database: a unix socket in front of the server's that delays bytes, and
 * that can be cut: then nothing passes and no side is notified, as with a pulled cable. Bytes sent meanwhile
 * pass after the repair.
 */

/** A network path; its `folder` replaces the server's in an address. */
export interface Wire extends AsyncDisposable {
  readonly folder: string;
  /** Delay of each piece, each way, milliseconds. */
  slow(ms: number): void;
  cut(): void;
  mend(): void;
  /** Bytes that passed. */
  bytes(): number;
}

const SOCKET = ".s.PGSQL.5432";

/** Makes a path to the server whose socket is in `to`. */
export async function layWire(to: string): Promise<Wire> {
  const folder = await Deno.makeTempDir({ dir: "/tmp", prefix: "rwi-" });
  const path = `${folder}/${SOCKET}`;
  const listener = Deno.listen({ transport: "unix", path });
  await Deno.chmod(folder, 0o711);
  await Deno.chmod(path, 0o777);
  let ms = 0, passed = 0;
  let open = Promise.withResolvers<void>();
  open.resolve();
  const held = new Set<Deno.Conn>();

  const pass = async (from: Deno.Conn, into: Deno.Conn): Promise<void> => {
    const buffer = new Uint8Array(65_536);
    try {
      for (let n = await from.read(buffer); n !== null; n = await from.read(buffer)) {
        const piece = buffer.slice(0, n);
        // TIMER: the delay of the path.
        if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
        await open.promise;
        for (let at = 0; at < piece.length;) at += await into.write(piece.subarray(at));
        passed += n;
      }
    } catch (_error) {
      // One end has closed: so does the other.
    }
    for (const each of [from, into]) {
      try {
        if (held.delete(each)) each.close();
      } catch (_error) {
        // It was closed already.
      }
    }
  };
  const serving = (async (): Promise<void> => {
    for await (const near of listener) {
      held.add(near);
      try {
        const far = await Deno.connect({ transport: "unix", path: `${to}/${SOCKET}` });
        held.add(far);
        void pass(near, far);
        void pass(far, near);
      } catch (_error) {
        held.delete(near);
        near.close();
      }
    }
  })();
  return Object.freeze<Wire>({
    folder,
    slow: (wanted) => void (ms = wanted),
    cut: () => void (open = Promise.withResolvers()),
    mend: () => open.resolve(),
    bytes: () => passed,
    async [Symbol.asyncDispose](): Promise<void> {
      listener.close();
      open.resolve();
      for (const each of held) {
        try {
          each.close();
        } catch (_error) {
          // It has closed.
        }
      }
      held.clear();
      await serving;
      await Deno.remove(folder, { recursive: true });
    },
  });
}
