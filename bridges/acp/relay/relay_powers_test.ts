import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { RelaySaid } from "../../../contracts/tool/foreign_agent.ts";
import { startProvider } from "../../../tests/fake/foreign_agent.ts";

const TOOLS = "/remit/tools";

interface Relay extends AsyncDisposable {
  post(path: string, body: string): Promise<Response>;
  /** A connection on which a POST was sent, for a caller that hangs up. */
  dial(path: string, body: string): Promise<Deno.UnixConn>;
  /** The next of what the relay said that fits, also if it was said before. */
  said(fits: (said: RelaySaid) => boolean): Promise<RelaySaid>;
}

/** A relay as a kernel starts it, which lets all pass with at most 500 tokens; calls answer their length. */
async function startRelay(origin: string): Promise<Relay> {
  const dir = await Deno.makeTempDir({ prefix: "remit-acp-relay-" });
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL("./main.ts", import.meta.url).pathname, `${dir}/s`],
    ...{ stdin: "piped", stdout: "piped" },
  }).spawn();
  const input = child.stdin.getWriter();
  const tell = (value: unknown) =>
    input.write(new TextEncoder().encode(`${JSON.stringify(value)}\n`));
  const said: RelaySaid[] = [];
  let heard = Promise.withResolvers<void>();
  const listening = (async () => {
    let rest = "";
    for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const each = JSON.parse(line) as RelaySaid;
        said.push(each);
        if ("infer" in each) {
          await tell({ id: each.id, maxTokens: Math.min(500, each.infer.maxTokens) });
        } else if ("call" in each) {
          await tell({ id: each.id, content: String(each.args.length), isError: false });
        }
      }
      heard.resolve();
      heard = Promise.withResolvers();
    }
  })();
  const find = async (fits: (said: RelaySaid) => boolean): Promise<RelaySaid> => {
    for (;;) {
      const found = said.findIndex(fits);
      const [first] = found < 0 ? [] : said.splice(found, 1);
      if (first !== undefined) return first;
      await heard.promise;
    }
  };
  await tell({
    ...{ tokens: 1_000_000, tools: TOOLS },
    provider: { wire: "openai", origin, header: "authorization", value: "Bearer k" },
  });
  await find((each) => "ready" in each);
  const client = Deno.createHttpClient({ proxy: { transport: "unix", path: `${dir}/s` } });
  return {
    said: find,
    post: (path, body) => fetch(`http://relay${path}`, { method: "POST", body, client }),
    async dial(path, body) {
      const line = await Deno.connect({ transport: "unix", path: `${dir}/s` });
      const head = `POST ${path} HTTP/1.1\r\nhost: relay\r\ncontent-length: ${body.length}\r\n\r\n`;
      await line.write(new TextEncoder().encode(head + body));
      return line;
    },
    async [Symbol.asyncDispose]() {
      client.close();
      await input.close();
      await child.status;
      await listening;
      await Deno.remove(dir, { recursive: true });
    },
  };
}

const ended = (said: RelaySaid): boolean => "ended" in said;
const usageOf = (said: RelaySaid) => "ended" in said ? said.used : undefined;
const request = (more: object) =>
  JSON.stringify({ model: "m", max_output_tokens: 9_000, input: ["x".repeat(100)], ...more });

Deno.test("an agent that hangs up before the answer begins pays its input, and the whole answer where that is no stream", async () => {
  const arrived: PromiseWithResolvers<void>[] = [];
  const never = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (asked) => {
    await asked.text();
    arrived.at(-1)?.resolve();
    await never.promise;
    return new Response();
  });
  try {
    await using relay = await startRelay(`http://127.0.0.1:${server.addr.port}`);
    for (const [stream, output] of [[false, 500], [true, 0]] as const) {
      const there = Promise.withResolvers<void>();
      arrived.push(there);
      const line = await relay.dial("/v1/responses", request({ stream }));
      await there.promise;
      line.close();
      const used = usageOf(await relay.said(ended));
      equal(used?.output, output);
      ok((used?.input ?? 0) >= 25);
    }
  } finally {
    never.resolve();
    await server.shutdown();
  }
});

Deno.test("of a longer request the runtime notes nothing till the answer comes, which is then counted", async () => {
  const arrived = Promise.withResolvers<void>(), gone = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (asked) => {
    await asked.text();
    arrived.resolve();
    await gone.promise;
    return Response.json({
      usage: { input_tokens: 9_000, output_tokens: 3 },
      more: "x".repeat(1e6),
    });
  });
  try {
    await using relay = await startRelay(`http://127.0.0.1:${server.addr.port}`);
    const line = await relay.dial("/v1/responses", request({ instructions: "x".repeat(9_000) }));
    await arrived.promise;
    line.close();
    gone.resolve();
    const used = usageOf(await relay.said(ended));
    ok((used?.input ?? 0) >= 2_250);
    ok((used?.output ?? 0) >= 3);
  } finally {
    gone.resolve();
    await server.shutdown();
  }
});

Deno.test("a provider that drops its line or leads elsewhere is paid for, one that says no or is not reached is not", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const dropping = (async () => {
    for await (const each of listener) {
      await each.read(new Uint8Array(4_096));
      each.close();
    }
  })();
  const dropped = await (async () => {
    await using relay = await startRelay(`http://127.0.0.1:${listener.addr.port}`);
    equal((await relay.post("/v1/responses", request({}))).status, 502);
    return usageOf(await relay.said(ended));
  })();
  equal(dropped?.output, 500);
  listener.close();
  await dropping;
  {
    // Nobody listens there now.
    await using relay = await startRelay(`http://127.0.0.1:${listener.addr.port}`);
    equal((await relay.post("/v1/responses", request({}))).status, 502);
    equal(usageOf(await relay.said(ended)), undefined);
  }
  let status = 302;
  await using provider = startProvider(() =>
    new Response("", { status, headers: { location: "/" } })
  );
  await using relay = await startRelay(provider.origin);
  equal((await relay.post("/v1/responses", request({}))).status, 502);
  equal(usageOf(await relay.said(ended))?.output, 500);
  status = 429;
  equal((await relay.post("/v1/responses", request({}))).status, 429);
  equal(usageOf(await relay.said(ended)), undefined);
});

Deno.test("what was judged is what is sent: a member that stands there twice leaves once", async () => {
  await using provider = startProvider();
  await using relay = await startRelay(provider.origin);
  await (await relay.post("/v1/responses", '{"n":8,"model":"m","n":1,"max_output_tokens":5}'))
    .text();
  deepEqual(provider.asked.map(({ body }) => JSON.parse(body) as unknown), [
    { n: 1, model: "m", max_output_tokens: 5 },
  ]);
  equal(provider.asked[0]?.body.match(/"n"/g)?.length, 1);
});

Deno.test("a call of a tool that is too long for the kernel is answered by the relay, and a shorter one by the kernel", async () => {
  await using relay = await startRelay("http://127.0.0.1:9");
  const call = (name: string, text: string) =>
    relay.post(
      TOOLS,
      JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
        params: { name, arguments: { text } },
      }),
    );
  match(await (await call("t", "x".repeat(900_000))).text(), /"text":"900011"/);
  const large = await call("t", "x".repeat(5 * 1024 * 1024));
  equal(large.status, 413);
  match(await large.text(), /its body is too large/);
  match(await (await call("t", "x".repeat(1_000_000))).text(), /more than 1000000 characters/);
  match(await (await call("t".repeat(129), "")).text(), /no tool has so long a name/);
});
