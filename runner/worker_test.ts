import assert from "node:assert/strict";
import { Fault, type FaultCode } from "../contracts/base/fault.ts";
import { toJson } from "../contracts/base/json.ts";
import {
  callOf,
  makeBench,
  type Moves,
  reply,
  resultOf,
  runTurn,
  say,
  settled,
} from "./_fixture/bench.ts";

const answering: Moves = { infer: () => reply("hello") };

async function codeOf(promise: Promise<unknown>): Promise<FaultCode> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    return error.code;
  }
  throw new assert.AssertionError({ message: "it was not refused" });
}

Deno.test("a worker refuses a turn before the start, a second start, a turn within a turn, other ops", async () => {
  const pending = Promise.withResolvers<ReturnType<typeof reply>>();
  const bench = makeBench({ infer: () => pending.promise });
  assert.equal(await codeOf(bench.turn("go")), "invalidInput");
  await bench.start();
  assert.equal(await codeOf(bench.start()), "conflict");
  const first = bench.turn("go");
  await settled();
  assert.equal(await codeOf(bench.turn("too soon")), "conflict");
  assert.equal(await codeOf(bench.kernel.ask("exec", null)), "invalidInput");
  pending.resolve(reply("hello"));
  assert.equal((await first).text, "hello");
});

Deno.test("events before the start and unknown events are ignored", async () => {
  const bench = makeBench(answering);
  bench.kernel.tell("signal", { signal: "SIGTERM" });
  bench.kernel.tell("chunk", { textDelta: "x" });
  bench.kernel.tell("capsChanged", null);
  bench.kernel.tell("surprise", { a: 1 });
  await bench.start();
  assert.equal((await bench.turn("go")).text, "hello");
});

const ECHO = `(() => ({
  turn: async (ports, message) => {
    const table = await ports.advertise();
    const answer = await ports.infer({
      base: ports.conversation.length, append: [message], maxTokens: 9,
    });
    const result = await ports.call(table.id, { id: "x1", name: "file_read", arguments: "{}" });
    const child = await ports.spawn({ persona: "p", request: "r", tools: [], limits: {} });
    const ended = await ports.wait(child.pid);
    await ports.kill(child.pid, "SIGTERM");
    return { stop: "answered", text: [answer.message.content, result.content, ended.text].join() };
  },
}))()`;

Deno.test("a foreign program drives the same ports, with the numbers that were handed over", async () => {
  const other: string[] = [];
  const bench = await runTurn({
    ...answering,
    program: ECHO,
    other: (op, body) => {
      other.push(`${op} ${JSON.stringify(body)}`);
      return toJson(
        op === "spawn" ? { pid: 9 } : op === "wait" ? { exit: 0, text: "child" } : null,
      );
    },
  }, "go");
  assert.deepEqual(bench.end, { stop: "answered", text: "hello,done,child" });
  assert.deepEqual(other, [
    'spawn {"cap":3,"persona":"p","request":"r","tools":[],"limits":{}}',
    'wait {"cap":3,"pid":9}',
    'kill {"cap":3,"pid":9,"signal":"SIGTERM"}',
  ]);
});

Deno.test("tools that came with the turn are not asked for, unless they have changed since", async () => {
  const handed = { id: "a".repeat(64), tools: [] };
  const bench = makeBench({
    infer: (_said, n) => n === 0 ? reply("look", [callOf("c1")]) : reply("done"),
    call: () => {
      bench.kernel.tell("capsChanged", null);
      return resultOf(callOf("c1"), "x", "unknownTool");
    },
  });
  // One write: neither waits for the other's answer.
  const [, end] = await Promise.all([
    bench.start(),
    bench.kernel.ask("turn", { message: toJson(say("user", "go")), tools: handed }),
  ]);
  assert.deepEqual(end, { stop: "answered", text: "done" });
  assert.deepEqual(bench.asked.map(({ op }) => op), ["infer", "call", "advertise", "infer"]);
});

Deno.test("a foreign program hears signals, chunks and changes during its turn", async () => {
  const program = `({ turn: (ports) => new Promise((resolve) => {
    const heard = [];
    ports.listen({
      signal: (signal) => resolve({ stop: "terminated", text: [...heard, signal].join() }),
      chunk: (chunk) => heard.push(chunk.textDelta),
      capsChanged: () => heard.push("changed"),
    });
  }) })`;
  const bench = makeBench({ ...answering, program });
  await bench.start();
  const ending = bench.turn("go");
  await settled();
  bench.kernel.tell("chunk", { textDelta: "a" });
  bench.kernel.tell("capsChanged", null);
  bench.kernel.tell("signal", { signal: "SIGTERM" });
  assert.deepEqual(await ending, { stop: "terminated", text: "a,changed,SIGTERM" });
});

Deno.test("a foreign program hears how full its window is, and chooses what gives way", async () => {
  const program = `({ turn: (ports) => new Promise((resolve) => {
    ports.listen({
      signal: async (signal, pressure) => {
        const { from, messages } = await ports.context.evict({
          policy: { share: 0.3 }, preserve: ["IMPORTANT"], important: [1],
        });
        await ports.context.checkpoint();
        const { used, limit } = pressure;
        resolve({ stop: "answered", text: [signal, used, limit, from, messages.length].join() });
      },
    });
  }) })`;
  const bench = makeBench({
    ...answering,
    program,
    limits: { contextWindow: 1_000 },
    conversation: [say("system", "s"), say("user", "u"), say("assistant", "a")],
    room: () => ({ from: 1, messages: [say("user", "[left out]")] }),
  });
  await bench.start();
  const ending = bench.turn("go");
  await settled();
  const pressure = { used: 900, limit: 1_000, recommended: "compact" };
  bench.kernel.tell("signal", { signal: "SIGCTXPRESSURE", pressure });
  assert.deepEqual(await ending, { stop: "answered", text: "SIGCTXPRESSURE,900,1000,1,1" });
  assert.deepEqual(bench.asked.map(({ body }) => body), [
    { cap: 1, reserve: 200, preserve: ["IMPORTANT"], important: [1], share: 0.3, method: "evict" },
    { cap: 1, reserve: 200, method: "checkpoint" },
  ]);
  assert.equal(bench.conversation().length, 2);
});

const BROKEN: readonly (readonly [string, string])[] = [
  ["does not parse", "(() => {"],
  ["throws when it is loaded", "(() => { throw new Error('no') })()"],
  ["is a number", "42"],
  ["has no turn", "({ run: () => 1 })"],
  ["is null", "null"],
];
for (const [what, program] of BROKEN) {
  Deno.test(`a foreign program that ${what} is refused at the start`, async () => {
    assert.equal(await codeOf(makeBench({ ...answering, program }).start()), "invalidInput");
  });
}

const THROWN: readonly (readonly [string, string, FaultCode])[] = [
  ["throws", "({ turn: () => { throw new TypeError('oops') } })", "upstream"],
  ["throws a string", "({ turn: async () => { throw 'oops' } })", "upstream"],
  ["gives no end", "({ turn: () => null })", "upstream"],
  ["gives a number as text", "({ turn: () => ({ stop: 'answered', text: 1 }) })", "upstream"],
  ["asks what the kernel refuses", "({ turn: (ports) => ports.spawn({}) })", "invalidInput"],
];
for (const [what, program, code] of THROWN) {
  Deno.test(`a foreign program that ${what} ends its turn with ${code}`, async () => {
    const bench = makeBench({ ...answering, program });
    await bench.start();
    assert.equal(await codeOf(bench.turn("go")), code);
    assert.equal(await codeOf(bench.turn("again")), code);
  });
}

Deno.test("a foreign program cannot reach the names of the runner", async () => {
  const program = "({ turn: () => ({ stop: 'answered', text: typeof makeWorker + typeof port }) })";
  assert.equal((await runTurn({ ...answering, program }, "go")).end.text, "undefinedundefined");
});

Deno.test("two turns share one conversation", async () => {
  const bench = makeBench({ infer: (_, n) => n === 0 ? reply("", [callOf("c")]) : reply(`${n}`) });
  await bench.start();
  await bench.turn("one");
  await bench.turn("two");
  const users = bench.conversation().filter((each) => each.role === "user");
  assert.deepEqual(users, [say("user", "one"), say("user", "two")]);
  assert.equal(bench.conversation().length, 7);
});
