/**
 * A site on loopback whose answers are written byte by byte, so that it can also be hostile.
 * @module
 */

/** A received request. */
export interface Seen {
  readonly method: string;
  /** Path and query, as on the wire. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Writes an answer's bytes; `gone` resolves when the client has disconnected. The connection is closed when the handler resolves. */
export type Reply = (
  write: (bytes: Uint8Array | string) => Promise<void>,
  gone: Promise<void>,
) => Promise<void>;

/** A running site. */
export interface Site extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  /** Every request so far. */
  readonly seen: readonly Seen[];
  /** Resolves when a request has arrived whose answer was not counted yet. */
  next(): Promise<Seen>;
  /** Resolves when a client disconnected before its reply was written whole. */
  readonly hungUp: Promise<void>;
}

const encoder = new TextEncoder();

/** An ordinary answer with a content length. */
export function reply(
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: Uint8Array | string = "",
): Reply {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const lines = Object.entries({ "content-length": String(bytes.length), ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return async (write) => {
    await write(`HTTP/1.1 ${status} So\r\n${lines}\r\n`);
    await write(bytes);
  };
}

/** A redirect. */
export function redirect(status: number, location: string): Reply {
  return reply(status, { location });
}

/** Exactly these bytes, and the end. */
export function raw(text: string): Reply {
  return (write) => write(text);
}

/** These bytes, and then nothing until the client disconnects. */
export function hangAfter(text: string): Reply {
  return async (write, gone) => {
    await write(text);
    await gone;
    throw new Error("the other side hung up");
  };
}

/** Starts a site on a free port; with `tls`, over HTTPS. */
export function startSite(
  answer: (request: Seen) => Reply,
  options: { readonly tls?: { readonly cert: string; readonly key: string }; hostname?: string } =
    {},
): Site {
  const at = { hostname: options.hostname ?? "127.0.0.1", port: 0 };
  const listener = options.tls === undefined
    ? Deno.listen(at)
    : Deno.listenTls({ ...at, ...options.tls });
  const seen: Seen[] = [];
  let arrived = Promise.withResolvers<Seen>();
  const hungUp = Promise.withResolvers<void>();
  const serving = new Set<Promise<void>>();
  const open = new Set<Deno.Conn>();

  async function serve(connection: Deno.Conn): Promise<void> {
    open.add(connection);
    try {
      const request = await readRequest(connection);
      if (request === undefined) return;
      seen.push(request);
      arrived.resolve(request);
      arrived = Promise.withResolvers();
      await answer(request)((bytes) => writeAll(connection, bytes), endOf(connection));
    } catch {
      // The client disconnected: some tests wait for that.
      hungUp.resolve();
    } finally {
      open.delete(connection);
      try {
        connection.close();
      } catch {
        // The end of the site has closed it already.
      }
    }
  }
  const accepting = (async () => {
    for (;;) {
      let connection: Deno.Conn;
      try {
        connection = await listener.accept();
      } catch (error) {
        if (error instanceof Deno.errors.BadResource) return;
        continue; // a failed handshake
      }
      const served = serve(connection);
      serving.add(served);
      served.finally(() => serving.delete(served));
    }
  })();
  const { port } = listener.addr as Deno.NetAddr;
  const scheme = options.tls === undefined ? "http" : "https";
  const host = at.hostname.includes(":") ? `[${at.hostname}]` : at.hostname;
  return {
    origin: `${scheme}://${host}:${port}`,
    port,
    seen,
    next: () => arrived.promise,
    hungUp: hungUp.promise,
    async [Symbol.asyncDispose](): Promise<void> {
      listener.close();
      for (const connection of open) connection.close();
      await Promise.allSettled([accepting, ...serving]);
    },
  };
}

async function endOf(connection: Deno.Conn): Promise<void> {
  try {
    while (await connection.read(new Uint8Array(64)) !== null);
  } catch {
    // Reset, or closed by the end of the site: disconnected as well.
  }
}

async function writeAll(connection: Deno.Conn, text: Uint8Array | string): Promise<void> {
  const bytes = typeof text === "string" ? encoder.encode(text) : text;
  for (let done = 0; done < bytes.length;) done += await connection.write(bytes.subarray(done));
}

async function readRequest(connection: Deno.Conn): Promise<Seen | undefined> {
  let text = "";
  const chunk = new Uint8Array(65_536);
  const more = async (): Promise<boolean> => {
    const n = await connection.read(chunk);
    // Latin-1, so that each byte is one character.
    if (n !== null) { for (const byte of chunk.subarray(0, n)) text += String.fromCharCode(byte); }
    return n !== null;
  };
  while (!text.includes("\r\n\r\n")) if (!await more()) return undefined;
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const [method = "", target = ""] = first.split(" ");
  const headers = Object.fromEntries(lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  }));
  const length = Number(headers["content-length"] ?? 0);
  while (text.length < end + 4 + length) if (!await more()) return undefined;
  const body = text.slice(end + 4, end + 4 + length);
  return {
    method,
    target,
    headers,
    body: new TextDecoder().decode(Uint8Array.from(body, (c) => c.charCodeAt(0))),
  };
}
