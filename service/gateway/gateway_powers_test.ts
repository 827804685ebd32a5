import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import { listen, type Listener } from "./gateway_powers.ts";

/** The listener over real sockets of this machine, with small bounds. */

const AT = { hostname: "127.0.0.1", port: 0 };
const GET = "GET /plain HTTP/1.1\r\nHost: a\r\n\r\n";
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A client's connection, read as text. */
interface Client extends Disposable {
  say(text: string): Promise<void>;
  /** The next bytes; empty when the server closed it. */
  read(): Promise<string>;
}

async function connect({ port }: Listener): Promise<Client> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  const bytes = new Uint8Array(65_536);
  return {
    say: async (text) => void await conn.write(encoder.encode(text)),
    async read() {
      try {
        return decoder.decode(bytes.subarray(0, await conn.read(bytes) ?? 0));
      } catch (error) {
        if (error instanceof Deno.errors.ConnectionReset) return "";
        throw error;
      }
    },
    [Symbol.dispose]: () => conn.close(),
  };
}

Deno.test("requests are answered one after another, each with the address that it came from", async () => {
  const listener = listen(AT, (request, address) => new Response(`${request.url} ${address}`));
  {
    using alice = await connect(listener);
    for (let i = 0; i < 2; i++) {
      await alice.say(GET);
      assert.match(await alice.read(), /http:\/\/a\/plain 127\.0\.0\.1$/);
    }
  }
  await listener.shutdown();
});

Deno.test("a stream of alice's goes on while mallory's silent connections come and go, and ends with her", async () => {
  const gone = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  let send = (_text: string): void => undefined;
  const listener = listen(AT, (request) => {
    if (!request.url.endsWith("/stream")) return new Response("hi");
    request.signal.addEventListener("abort", () => gone.resolve());
    return new Response(
      new ReadableStream<Uint8Array>({
        start(controller): void {
          send = (text) => controller.enqueue(encoder.encode(text));
          send("begun");
        },
        cancel: () => cancelled.resolve(),
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  }, { max: 3, firstMs: 60_000, idleMs: 60_000 });
  const alice = await connect(listener);
  await alice.say("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
  let read = "";
  while (!read.includes("begun")) read += await alice.read();
  const mallory: Client[] = [];
  for (let i = 0; i < 10; i++) mallory.push(await connect(listener));
  for (const one of mallory.slice(0, 7)) assert.equal(await one.read(), "", "closed for another");
  send("still here");
  assert.match(await alice.read(), /still here/);
  {
    using bob = await connect(listener);
    await bob.say(GET);
    assert.match(await bob.read(), /hi$/);
  }
  alice[Symbol.dispose]();
  await Promise.all([gone.promise, cancelled.promise]);
  for (const one of mallory) one[Symbol.dispose]();
  await listener.shutdown();
});

Deno.test("whoever does not finish a head, or asks nothing more, is closed; whoever is being answered is not", async () => {
  const answer = Promise.withResolvers<Response>();
  const listener = listen(
    AT,
    (request) => request.url.endsWith("/long") ? answer.promise : new Response("hi"),
    {
      max: 10,
      // Long enough for a busy machine to send a head.
      firstMs: 1_500,
      idleMs: 50,
    },
  );
  using alice = await connect(listener);
  await alice.say("GET /long HTTP/1.1\r\nHost: a\r\n\r\n");
  {
    using silent = await connect(listener);
    using half = await connect(listener);
    using kept = await connect(listener);
    await half.say("GET /plain HTTP/1.1\r\nX-Half: ");
    await kept.say(GET);
    assert.match(await kept.read(), /hi$/);
    for (const each of [silent, half, kept]) assert.equal(await each.read(), "");
  }
  answer.resolve(new Response("long"));
  assert.match(await alice.read(), /long$/);
  assert.equal(await alice.read(), "", "and then it is silent as well");
  await listener.shutdown();
});

Deno.test("an answer that fails is 500 and ends nothing; an address that is taken is a fault", async () => {
  const listener = listen(AT, () => Promise.reject(new Error("secret")));
  {
    using alice = await connect(listener);
    for (let i = 0; i < 2; i++) {
      await alice.say(GET);
      const said = await alice.read();
      assert.match(said, /^HTTP\/1\.1 500 /);
      assert.ok(!said.includes("secret"));
    }
  }
  assert.throws(
    () => listen({ ...AT, port: listener.port }, () => new Response()),
    (error) => error instanceof Fault && error.code === "unavailable",
  );
  await listener.shutdown();
});
