import assert from "node:assert/strict";
import {
  type Hostile,
  type HostileProtocol,
  serveCut,
  serveEndless,
  serveEndlessComments,
  serveEndlessNothing,
  serveGigabyte,
  serveGigabyteError,
  serveHalf,
  serveMalformed,
  serveNotUtf8,
  serveOpenai,
  serveRedirect,
  serveSlow,
} from "../../../models/_fixture/providers/mod.ts";
import { serveLoopback } from "../../../models/_fixture/providers/server.ts";
import { asksWell, HONEST, peakOf } from "../_beside.ts";
import { reasonOf, think, withServices } from "./_models.ts";
import type { Siege, Watched } from "../../fake/siege.ts";

/** Most that the kernel may grow while a provider floods its service, KiB. */
const GROWTH = 96 * 1_024;

const WORST = ["endless nothing", "a gigabyte in a delta", "half a stream", "no JSON"];

const model = (protocol: HostileProtocol, { url }: { readonly url: string }, limits = {}) => ({
  ref: `${protocol}:m@${url}`,
  config: { model: "m", url, contextTokens: 100_000 },
  limits,
});

/** Honest tasks go on, and the kernel answers, while `attack` is under way. */
async function goesOn(siege: Siege, attacks: readonly Watched[]): Promise<void> {
  const bobs = [await siege.run({ turns: HONEST }), await siege.run({ turns: HONEST })];
  let over = false;
  const ends = Promise.all(attacks.map(({ end }) => end)).then(() => over = true);
  do {
    await asksWell(siege);
    // TIMER: asks again and again, but leaves the machine to the others.
    await new Promise((resolve) => setTimeout(resolve, 50));
  } while (!over);
  await ends;
  for (const bob of bobs) {
    assert.deepEqual(await bob.end, { task: bob.id, status: "done", exit: 0 });
    assert.equal((await bob.task())["answer"], "call the supplier\n");
  }
}

for (const protocol of ["anthropic", "openai", "ollama"] as const) {
  Deno.test(`mallory's ${protocol} server would have filled memory, held up other tasks, or ended the kernel (long)`, async () => {
    const servers: Readonly<Record<string, [Hostile, number, RegExp]>> = {
      "endless text": [serveEndless(protocol), 67, /more than/],
      "endless nothing": [serveEndlessNothing(protocol), 67, /more than 16777216 bytes/],
      "endless comments": [serveEndlessComments(protocol), 67, /more than 16777216 bytes/],
      "a gigabyte in a delta": [serveGigabyte(protocol), 67, /a line of over 1048576 bytes/],
      "a gigabyte of error": [serveGigabyteError(protocol), 2, /does not take the request/],
      "half a stream": [serveHalf(protocol), 67, /breaks off/],
      "a cut stream": [serveCut(protocol), 67, /broke off/],
      "no JSON": [serveMalformed(protocol), 67, /sends|answer/],
    };
    try {
      await withServices(async (siege) => {
        const before = peakOf(siege.pid);
        // One protocol meets all of them; what is particular of the others meets the worst.
        const names = Object.keys(servers).filter((name) =>
          protocol === "openai" || WORST.includes(name)
        );
        // Two at a time: each service is a process of its own.
        for (let n = 0; n < names.length; n += 2) {
          const tasks = await Promise.all(
            names.slice(n, n + 2).map(async (name) => {
              const [server, exit, says] = servers[name] ?? assert.fail();
              return { name, exit, says, task: await think(siege, model(protocol, server)) };
            }),
          );
          await goesOn(siege, tasks.map(({ task }) => task));
          for (const { name, exit, says, task } of tasks) {
            const reason = await reasonOf(task);
            assert.match(reason, says, `${name}: ${reason}`);
            assert.equal((await task.end).exit, exit, `${name}: ${reason}`);
          }
        }
        const grown = peakOf(siege.pid) - before;
        assert.ok(grown < GROWTH, `the kernel grew by ${grown} KiB`);
      });
    } finally {
      for (const [server] of Object.values(servers)) await server[Symbol.asyncDispose]();
    }
  });
}

Deno.test("text that is no UTF-8 would have come through as something else than text", async () => {
  await withServices(async (siege) => {
    await using server = serveNotUtf8("openai");
    const task = await think(siege, model("openai", server));
    await task.end;
    const said = JSON.stringify([task.events, await task.task()]);
    assert.equal(said, said.toWellFormed());
  });
});

Deno.test("mallory's provider would have sent the request, and alice's key, to a host of its choice", async () => {
  await using trap = serveLoopback(() => ({ pieces: ["caught"] }));
  await withServices(async (siege) => {
    for (const status of [301, 302, 303, 307, 308] as const) {
      await using server = serveRedirect("openai", `${trap.origin}/v1/chat/completions`, status);
      const name = `env-${status}`;
      const key = { header: "authorization", prefix: "Bearer ", value: "sk-plum-orchard-7731" };
      await siege.ask("lend", { name, origin: server.origin, ...key });
      const { ref, config } = model("openai", server);
      const task = await think(siege, { ref, config: { ...config, secret: name } });
      assert.equal((await task.end).exit, 67);
      assert.match(await reasonOf(task), /sends the request elsewhere/);
      assert.equal(server.received.length, 1);
      assert.equal(server.received[0]?.headers["authorization"], "Bearer sk-plum-orchard-7731");
    }
  });
  assert.deepEqual(trap.received, []);
});

Deno.test("mallory's provider would have held a task for ever with a byte now and then", async () => {
  const silence = Promise.withResolvers<void>();
  await using server = serveSlow("openai", silence.promise);
  await withServices(async (siege) => {
    const limits = { generationTimeoutMs: 2_500, retries: 1 };
    const task = await think(siege, model("openai", server, limits));
    await goesOn(siege, [task]);
    assert.equal((await task.end).exit, 67);
    assert.match(await reasonOf(task), /2500 ms passed/);
    // The same request would take as long again.
    assert.equal(server.received.length, 1);
  });
  silence.resolve();
});

Deno.test("mallory's model would have called what it was not offered, and had one call taken for another", async () => {
  await using provider = serveOpenai({ key: null });
  const read = (id: string, path: string) => ({
    id,
    name: "file_read",
    pieces: [JSON.stringify({ path })],
  });
  provider.next(
    {
      calls: [{ id: "a", name: "kernel_shutdown", pieces: ["{}"] }, {
        id: "b",
        name: "x".repeat(5_000),
        pieces: ["{}"],
      }],
    },
    {
      calls: [
        read("same", "desk/notes/plan.md"),
        read("same", "desk/notes/none.md"),
        read("", "desk/notes/plan.md"),
      ],
    },
    {
      calls: [read("same", "desk/notes/none.md"), {
        id: "__proto__",
        name: "__proto__",
        pieces: ['{"__proto__":1}'],
      }],
    },
    { text: ["Done."] },
  );
  await withServices(async (siege) => {
    const task = await think(siege, model("openai", provider));
    assert.equal((await task.end).exit, 0, await reasonOf(task));
    const last = provider.asked.at(-1) as {
      messages: {
        role: string;
        content: string;
        tool_call_id?: string;
        tool_calls?: { id: string }[];
      }[];
    };
    const made = last.messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id));
    const answered = last.messages.filter(({ role }) => role === "tool");
    assert.equal(made.length, 7);
    assert.equal(new Set(made).size, 7, "each call has an id of its own");
    assert.deepEqual(answered.map((each) => each.tool_call_id), made);
    const has = answered.map(({ content }) => content.includes("call the supplier"));
    assert.deepEqual(has, [false, false, true, false, true, false, false]);
  });
});
