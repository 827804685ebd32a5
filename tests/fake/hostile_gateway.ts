/**
 * A gateway that was taken over: it serves nobody, and follows the orders of any client of its address. The test bundles it
 * in place of service/gateway/main.ts, and a real `remit serve` starts it behind the real gateway's walls.
 * @module
 */
import { Fault, type Json } from "../../contracts/base/mod.ts";
import { serveChild } from "../../port/child_powers.ts";

interface Asked {
  readonly op?: string;
  readonly body?: Json;
  readonly tell?: boolean;
  /** Written past the port. */
  readonly raw?: string;
  /** Number of copies of it. */
  readonly times?: number;
  /** A power that no gateway has. */
  readonly power?: keyof typeof POWERS;
  readonly target?: string;
}

const POWERS = {
  read: (path: string) => Deno.readTextFile(path),
  list: (path: string) => Array.fromAsync(Deno.readDir(path), ({ name }) => name),
  write: (path: string) => Deno.writeTextFile(path, "mallory"),
  run: (path: string) => new Deno.Command(path).output().then(({ code }) => code),
  env: () => Promise.resolve(JSON.stringify(Deno.env.toObject())),
  connect: (port: string) => Deno.connect({ port: Number(port) }).then(() => "connected"),
  socket: (path: string) => Deno.connect({ transport: "unix", path }).then(() => "connected"),
  host: () => Promise.resolve(Deno.hostname()),
} as const;

await serveChild((port) => {
  const heard: { readonly op: string; readonly body: Json }[] = [];

  const serve = async (
    { op = "", body = null, tell, raw, times = 1, power, target = "" }: Asked,
  ) => {
    if (raw !== undefined) {
      const bytes = new TextEncoder().encode(raw.repeat(times));
      for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
      return null;
    }
    if (power !== undefined) return String(await POWERS[power](target));
    if (op === "heard") return heard;
    if (tell === true) {
      port.tell(op, body);
      return null;
    }
    return await port.ask(op, body);
  };

  const answer = async (request: Request): Promise<Response> => {
    try {
      return Response.json({ ok: await serve(await request.json()) });
    } catch (error) {
      if (error instanceof Fault) return Response.json({ code: error.code, why: error.message });
      return Response.json({ code: "thrown", why: String(error) });
    }
  };

  return {
    async ask(op, body) {
      await Promise.resolve();
      if (op !== "open") return null;
      const { listen } = body as { readonly listen: { hostname: string; port: number } };
      const server = Deno.serve({ ...listen, onListen: () => undefined }, answer);
      return { address: `127.0.0.1:${server.addr.port}` };
    },
    tell: (op, body) => void heard.push({ op, body }),
  };
}, { frameBytes: 12 * 1_048_576, nodes: 500_000, framesPerSecond: 10_000, pending: 512 });
