/** Relays connections from a namespace's loopback to a unix socket while a program runs. @module */

interface RelayParts {
  /** The net service's socket. */
  readonly socket: string;
  readonly program: string;
  readonly args: readonly string[];
}

/** Variables for this process alone; the program gets the others, and the one that disables update checks. */
const OWN = /^DENO_(?!NO_UPDATE_CHECK$)/;
/** Concurrent connections; more wait. */
const MAX_CONNECTIONS = 64;

/** Runs the program; resolves with its exit code, from 128 for a signal. */
export async function relay({ socket, program, args }: RelayParts): Promise<number> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const proxy = `http://127.0.0.1:${listener.addr.port}`;
  const env = Object.fromEntries(
    Object.entries(Deno.env.toObject()).filter(([name]) => !OWN.test(name)),
  );
  const child = new Deno.Command(program, {
    args: [...args],
    clearEnv: true,
    env: { ...env, HTTP_PROXY: proxy, HTTPS_PROXY: proxy, http_proxy: proxy, https_proxy: proxy },
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  void accept(listener, socket);
  const { code } = await child.status;
  return code;
}

async function accept(listener: Deno.TcpListener, socket: string): Promise<void> {
  const under = new Set<Promise<void>>();
  for (;;) {
    const inner = await listener.accept();
    const joined = join(inner, socket).finally(() => under.delete(joined));
    under.add(joined);
    if (under.size >= MAX_CONNECTIONS) await Promise.race(under);
  }
}

async function join(inner: Deno.Conn, socket: string): Promise<void> {
  const outer = await reach(socket);
  // Nobody listens at the socket any more: close the connection.
  if (outer === undefined) return inner.close();
  await Promise.allSettled([
    inner.readable.pipeTo(outer.writable),
    outer.readable.pipeTo(inner.writable),
  ]);
}

/** Milliseconds for which a busy socket is retried, and between two tries. */
const PATIENCE_MS = 5_000;
const RETRY_MS = 20;

/** Connects to a unix socket; undefined when nobody listens, or the socket is busy for `patienceMs`. */
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
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
