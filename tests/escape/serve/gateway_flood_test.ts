/**
 * mallory against the connections of a real gateway process, behind its walls: thousands that say nothing, heads and bodies
 * that come byte by byte. Without a bound her 4,100th connection ends the process, and slow ones hold it for ever.
 */
import { deepEqual, equal, match } from "node:assert/strict";
import {
  makeServePowers,
  provideServeProgram,
} from "../../../cli/mcp_serve/gateway_process_powers.ts";
import { Fault, type Json } from "../../../contracts/base/mod.ts";
import { NAMESPACE, namespace } from "../../../kernel/core/start/line_parts.ts";

const ROOT = new URL("../../../", import.meta.url).pathname.replace(/\/$/, "");
const FLOOD = 5_000;
const AT_ONCE = 64;
const encoder = new TextEncoder();

/** What the gateway is answered: a kernel is not needed for who never gets so far. */
async function ask(op: string, body: Json): Promise<Json> {
  await Promise.resolve();
  if (op === "ready") return { ready: true, why: "" };
  if (op === "hook") return { result: "unknown" };
  if (op === "a2aAdmit" && JSON.stringify(body) === '{"token":"alice"}') {
    return { peer: "alice", perMinute: 600, progress: false, push: false };
  }
  throw new Fault("denied", "Cannot let it in");
}

/** Everything that the server says until it closes, or until `enough`. */
async function heard(conn: Deno.Conn, enough = /^$/): Promise<string> {
  const bytes = new Uint8Array(4_096);
  for (let text = "";;) {
    const length = await conn.read(bytes).catch(() => null);
    if (length === null) return text;
    text += new TextDecoder().decode(bytes.subarray(0, length));
    if (enough.test(text)) return text;
  }
}

Deno.test("mallory's connections, however many and slow, neither end the gateway nor keep alice out", async (t) => {
  const cache = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`;
  const said: string[] = [];
  const { start } = makeServePowers({
    screen: { say: (text) => void said.push(text) },
    ...{ namespace, inside: NAMESPACE },
    provideProgram: () =>
      provideServeProgram({ home: ROOT, cache: `${cache}/remit`, onBuild: () => undefined }),
  });
  const listen = { hostname: "127.0.0.1", port: 0 };
  const gateway = await start({ listen, handler: { ask, tell: () => undefined } });
  let ended = false;
  void gateway.closed.then(() => ended = true);
  const opened = await gateway.ask("open", {
    ...{ transport: "http", listen, hosts: [], origins: [], version: "0.0.0" },
    serves: { mcp: true, a2a: true, hooks: true, page: true, metrics: true, fleet: true },
    bounds: { sessions: 4, perToken: 600, perAddress: 1_000_000, bodyMs: 300, headMs: 1_500 },
  });
  const port = Number(String(Object(opened).address).split(":")[1]);
  const url = `http://127.0.0.1:${port}`;
  const connect = (): Promise<Deno.TcpConn> => Deno.connect({ hostname: "127.0.0.1", port });
  const alice = async (): Promise<number> => {
    const { status, body } = await fetch(`${url}/readyz`);
    await body?.cancel();
    return status;
  };
  const flood: Deno.Conn[] = [];
  try {
    equal(await alice(), 200);

    await t.step(
      `${FLOOD} connections that say nothing: she is answered all the time`,
      async () => {
        const statuses = new Set<number>();
        while (flood.length < FLOOD) {
          const more = Array.from({ length: AT_ONCE }, connect);
          flood.push(...await Promise.all(more));
          statuses.add(await alice());
        }
        deepEqual([...statuses], [200]);
        equal(ended, false);
      },
    );

    await t.step("each with half a head: closed when the time for a head is over", async () => {
      const half = encoder.encode("POST /hooks/ci HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ");
      const slow: Deno.Conn[] = [];
      for (let i = 0; i < AT_ONCE; i++) {
        const conn = await connect();
        await conn.write(half);
        slow.push(conn);
      }
      equal(await alice(), 200);
      for (const conn of slow) {
        equal(await heard(conn), "");
        conn.close();
      }
    });

    await t.step("a body that comes byte by byte is cut off: 408, and the connection", async () => {
      const paths = [
        "POST /a2a HTTP/1.1\r\nAuthorization: Bearer alice\r\nContent-Type: application/json",
        "POST /hooks/ci HTTP/1.1",
        "POST /login HTTP/1.1\r\nOrigin: " + url +
        "\r\nContent-Type: application/x-www-form-urlencoded",
      ];
      const slow = await Promise.all(paths.map(async (head) => {
        const conn = await connect();
        await conn.write(
          encoder.encode(`${head}\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 50\r\n\r\n{`),
        );
        return conn;
      }));
      equal(await alice(), 200);
      for (const [i, conn] of slow.entries()) {
        match(await heard(conn, /\r\n\r\n/), /^HTTP\/1\.1 408 /, paths[i]);
        // She goes on: nobody listens any more.
        await conn.write(encoder.encode("x")).catch(() => undefined);
        await heard(conn);
        conn.close();
      }
    });

    equal(await alice(), 200);
    equal(ended, false, said.join("\n"));
    await gateway.ask("stop", null);
  } finally {
    for (const conn of flood) conn.close();
    await gateway.kill();
  }
});
