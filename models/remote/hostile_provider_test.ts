import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import type { Json } from "../../contracts/base/json.ts";
import { bundled } from "../../port/_fixture/bundled_child.ts";
import {
  deltaOf,
  type Hostile,
  type HostileProtocol,
  nobody,
  serveCut,
  serveEndless,
  serveEndlessComments,
  serveEndlessNothing,
  serveGigabyte,
  serveGigabyteError,
  serveHalf,
  serveHostile,
  serveMalformed,
  serveNotUtf8,
  serveRedirect,
  serveReset,
} from "../_fixture/providers/mod.ts";
import { openBody } from "./_fixture/bench.ts";
import { type ServiceProcess, startService } from "./_fixture/service_process.ts";

const KEY = "sk-carol-0123456789abcdefghijklmnop";
const provenance = { origin: "person", colour: "BLUE", label: "internal" };
/** Memory that a contained service may have had at most, KiB. */
const MAX_KIB = 400_000;

const infer = (id: number): Json => ({
  id,
  request: {
    messages: [{ role: "user", content: "Hello.", provenance }],
    tools: [],
    maxTokens: 100,
    nonce: "n",
  },
});

async function open(
  file: string,
  kind: HostileProtocol,
  url: string,
): Promise<ServiceProcess> {
  const service = startService(file, url);
  // A placeholder for what Ollama does not ask: it shall come out as little as the others'.
  await service.port.ask(
    "open",
    openBody(kind, url, { key: KEY, record: true }) as unknown as Json,
  );
  return service;
}

async function outcome(promise: Promise<Json>): Promise<Json | Fault> {
  try {
    return await promise;
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    return error;
  }
}

async function faultOf(promise: Promise<Json>): Promise<Fault> {
  const came = await outcome(promise);
  assert.ok(came instanceof Fault, JSON.stringify(came).slice(0, 300));
  return came;
}

/** Nothing of the credential is in anything that the service gave out. */
async function assertSilent(service: ServiceProcess): Promise<void> {
  const { stderr, code } = await service.end();
  assert.equal(code, 0, stderr);
  assert.equal(stderr, "");
  assert.ok(!service.wrote().includes(KEY), "the credential came out");
}

Deno.test("a hostile provider is contained in the real process (long)", async (t) => {
  await using built = await bundled(new URL("./main.ts", import.meta.url));

  for (const kind of ["anthropic", "openai", "ollama"] as const) {
    const refused = (what: string, serve: () => Hostile, why: RegExp): Promise<boolean> =>
      t.step(`${kind}: ${what}`, async () => {
        await using server = serve();
        await using service = await open(built.file, kind, server.url);
        const fault = await faultOf(service.port.ask("infer", infer(1)));
        assert.equal(fault.code, "upstream", fault.message);
        assert.match(fault.message, why);
        const peak = service.peak();
        assert.ok(peak === undefined || peak < MAX_KIB, `${peak} KiB`);
        await assertSilent(service);
      });

    await refused("an endless stream ends at the limit", () => serveEndless(kind), /more than/);
    await refused("an endless stream of nothing", () => serveEndlessNothing(kind), /more than/);
    await refused("endless comments", () => serveEndlessComments(kind), /more than/);
    await refused("a delta of a gigabyte", () => serveGigabyte(kind), /a line of over 1048576/);
    await refused("a connection cut in the midst", () => serveCut(kind), /broke off/);
    await refused("an answer that ends in the midst", () => serveHalf(kind), /breaks off/);
    await refused("a line that is no JSON", () => serveMalformed(kind), /protocol|not JSON|line/);

    await t.step(
      `${kind}: an error of a gigabyte is read no further than it is quoted`,
      async () => {
        await using server = serveGigabyteError(kind);
        await using service = await open(built.file, kind, server.url);
        const fault = await faultOf(service.port.ask("infer", infer(1)));
        assert.equal(fault.code, "invalidInput");
        assert.ok(fault.message.length < 600, `${fault.message.length}`);
        assert.ok(server.sent() < 64 * 1_048_576, `${server.sent()}`);
        await assertSilent(service);
      },
    );
    await t.step(`${kind}: a bomb of gzip is counted as what it unpacks to`, async () => {
      const plain = new Blob([new Uint8Array(64 * 1_048_576).fill(10)]);
      const packed = plain.stream().pipeThrough(new CompressionStream("gzip"));
      const bomb = new Uint8Array(await new Response(packed).arrayBuffer());
      await using server = serveHostile(kind, () => [bomb], {
        headers: { "content-encoding": "gzip" },
      });
      await using service = await open(built.file, kind, server.url);
      const fault = await faultOf(service.port.ask("infer", infer(1)));
      assert.equal(fault.code, "upstream");
      const peak = service.peak();
      assert.ok(peak === undefined || peak < MAX_KIB, `${peak} KiB`);
      await assertSilent(service);
    });
    await t.step(`${kind}: text that is not UTF-8 becomes text that is`, async () => {
      await using server = serveNotUtf8(kind);
      await using service = await open(built.file, kind, server.url);
      await outcome(service.port.ask("infer", infer(1)));
      for (const chunk of service.chunks) assert.ok(JSON.stringify(chunk).isWellFormed());
      await assertSilent(service);
    });
    await t.step(`${kind}: a redirect to another origin is not followed`, async () => {
      await using trap = serveHostile(kind, () => ["caught"]);
      for (const status of [301, 302, 303, 307, 308] as const) {
        await using server = serveRedirect(kind, `${trap.url}/v1/messages`, status);
        await using service = await open(built.file, kind, server.url);
        const fault = await faultOf(service.port.ask("infer", infer(1)));
        assert.equal(fault.code, "upstream");
        assert.match(fault.message, /elsewhere/);
        await assertSilent(service);
      }
      assert.deepEqual(trap.received, []);
    });
    await t.step(`${kind}: a slow one holds up nobody else, and cancel lets go of it`, async () => {
      const [began, silence] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let asked = 0;
      await using server = serveHostile(kind, () => {
        began.resolve();
        return asked++ === 0 ? ["d", silence.promise] : [deltaOf(kind, "half")];
      });
      await using service = await open(built.file, kind, server.url);
      const slow = faultOf(service.port.ask("infer", infer(1)));
      await began.promise;
      assert.equal((await faultOf(service.port.ask("infer", infer(2)))).code, "upstream");
      const left = server.left();
      service.port.tell("cancel", { id: 1 });
      assert.equal((await slow).code, "cancelled");
      await left;
      silence.resolve();
      await assertSilent(service);
    });
    await t.step(`${kind}: one that repeats the key everywhere does not get it out`, async () => {
      await using server = serveHostile(kind, () => [deltaOf(kind, `It is ${KEY}.`)], {
        headers: { "x-echo": KEY, "retry-after": KEY, "content-type": `text/plain; ${KEY}` },
      });
      await using refusing = serveHostile(kind, () => [`{"error":{"message":"bad key ${KEY}"}}`], {
        status: 401,
      });
      for (const { url } of [server, refusing]) {
        await using service = await open(built.file, kind, url);
        await outcome(service.port.ask("infer", infer(1)));
        assert.ok(service.exchanges.length > 0);
        await assertSilent(service);
      }
      const sent = server.received.at(-1)?.headers ?? {};
      assert.ok(JSON.stringify(sent).includes(KEY), "it was sent to the provider itself");
    });
  }

  await t.step("the process may connect to its origin and to nothing else", async () => {
    await using own = serveHostile("openai", () => []);
    await using other = serveHostile("openai", () => ["caught"]);
    await using service = startService(built.file, own.url);
    await service.port.ask("open", openBody("openai", other.url, { key: KEY }) as unknown as Json);
    const fault = await faultOf(service.port.ask("infer", infer(1)));
    assert.equal(fault.code, "refused");
    assert.match(fault.message, /may not reach/);
    assert.deepEqual(other.received, []);
    await assertSilent(service);
  });
  await t.step(
    "where nobody listens, and where each connection is closed, it says so",
    async () => {
      const url = nobody();
      await using none = await open(built.file, "openai", url);
      assert.match((await faultOf(none.port.ask("infer", infer(1)))).message, /nothing listens/);
      await using reset = serveReset();
      await using service = await open(built.file, "openai", reset.url);
      assert.equal((await faultOf(service.port.ask("infer", infer(1)))).code, "upstream");
      assert.equal(reset.tried(), 3);
    },
  );
});
