/** A proxy within the test on a real socket, and clients that write byte by byte. @module */
import type { NetProxied, NetProxy } from "../../contracts/wire/wire_net.ts";
import { makeExchange } from "../exchange_powers.ts";
import { makeProxies, type ProxyPowers } from "../proxy/proxies.ts";
import { resolvingNames } from "../address/resolver.ts";
import { makeSockets } from "../sockets_powers.ts";
import { type HandClock, makeHandClock, makeNames } from "./parts.ts";

/** A client's connection. */
export interface Client extends Disposable {
  write(text: string | Uint8Array): Promise<void>;
  /** The next bytes, as Latin-1; empty at the end, and where the connection broke. */
  read(): Promise<string>;
  /** All remaining bytes. */
  rest(): Promise<string>;
  closeWrite(): Promise<void>;
}

/** Connects to a socket. */
export async function connectTo(path: string): Promise<Client> {
  const connection = await Deno.connect({ transport: "unix", path });
  const buffer = new Uint8Array(65_536);
  const read = async (): Promise<string> => {
    try {
      const length = await connection.read(buffer);
      return length === null
        ? ""
        : Array.from(buffer.subarray(0, length), (b) => String.fromCharCode(b)).join("");
    } catch (error) {
      if (error instanceof Deno.errors.ConnectionReset) return "";
      throw error;
    }
  };
  return {
    async write(text): Promise<void> {
      const bytes = typeof text === "string"
        ? Uint8Array.from(text, (unit) => unit.charCodeAt(0))
        : text;
      for (let done = 0; done < bytes.length;) {
        done += await connection.write(bytes.subarray(done));
      }
    },
    read,
    async rest(): Promise<string> {
      let text = "";
      for (let more = await read(); more !== ""; more = await read()) text += more;
      return text;
    },
    closeWrite: () => connection.closeWrite(),
    [Symbol.dispose]: () => connection.close(),
  };
}

/** An open proxy. */
export interface OpenProxy extends AsyncDisposable {
  readonly path: string;
  readonly clock: HandClock;
  /** Notices to the kernel, `host ok` or `host why`. */
  readonly told: readonly NetProxied[];
  /** One request, and everything that comes back. */
  ask(text: string): Promise<string>;
  /** Ends the proxy. */
  close(): Promise<void>;
}

/** Opens a proxy. The resolver knows `names`; everything else is real, except the clock. */
export async function openProxy(
  allow: NetProxy["allow"],
  { names = makeNames({}), exchange = makeExchange(), ...powers }: Partial<ProxyPowers> & {
    readonly names?: ReturnType<typeof makeNames>;
  } = {},
): Promise<OpenProxy> {
  const folder = await Deno.makeTempDir({ prefix: "remit-proxy-" });
  const path = `${folder}/p-0`;
  const told: NetProxied[] = [];
  const clock = makeHandClock();
  const proxies = makeProxies({
    resolver: resolvingNames(names),
    exchange,
    clock,
    sockets: makeSockets(),
    proxied: (event) => told.push(event),
    spend: () => Promise.reject(new TypeError("nothing is metered")),
    ...powers,
  });
  proxies.open({ id: "p", path, allow, metered: powers.spend !== undefined });
  const close = (): Promise<void> => proxies.close("p");
  return {
    path,
    clock,
    told,
    close,
    async ask(text): Promise<string> {
      using client = await connectTo(path);
      await client.write(text);
      return await client.rest();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
