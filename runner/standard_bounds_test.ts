import assert from "node:assert/strict";
import type { ChatMessage } from "../contracts/model/chat.ts";
import { Fault } from "../contracts/base/fault.ts";
import { Digest } from "../contracts/authority/ids.ts";
import {
  callOf,
  fault,
  makeBench,
  type Moves,
  opsOf,
  reply,
  resultOf,
  runTurn,
  say,
  settled,
} from "./_fixture/bench.ts";

const table = (letter: string): { id: string; tools: [] } => ({
  id: Digest.parse(letter.repeat(64)),
  tools: [],
});

Deno.test("an endless loop of calls ends at the iteration limit", async () => {
  const bench = await runTurn({
    infer: (_, n) => reply(`again ${n}`, [callOf(`c${n}`)]),
    limits: { iterations: 4 },
  }, "go");
  assert.deepEqual(bench.end, { stop: "iterations", text: "again 3" });
  assert.equal(bench.asked.filter(({ op }) => op === "infer").length, 4);
  assert.equal(bench.asked.filter(({ op }) => op === "call").length, 4);
});

for (const code of ["rateLimited", "upstream", "timedOut"] as const) {
  Deno.test(`${code} is tried again, at most limits.retries times`, async () => {
    const fine = await runTurn({
      infer: (_, n) => n < 2 ? fault(code) : reply("at last"),
      limits: { retries: 2 },
    }, "go");
    assert.deepEqual(fine.end, { stop: "answered", text: "at last" });
    assert.equal(fine.conversation().length, 3);

    const bench = makeBench({ infer: () => fault(code), limits: { retries: 2 } });
    await bench.start();
    const end = await bench.turn("go").catch((error) => error);
    if (code === "rateLimited") assert.equal(end.code, code);
    else assert.deepEqual(end, { stop: "upstream", text: `Cannot: ${code}` });
    assert.equal(opsOf(bench), "advertise infer infer infer");
  });
}

Deno.test("a refused inference ends the turn with its fault, so that the kernel knows which", async () => {
  for (const code of ["refused", "clearance", "leaseExpired", "unavailable"] as const) {
    const bench = makeBench({ infer: () => fault(code) });
    await bench.start();
    await assert.rejects(
      bench.turn("go"),
      (error) => error instanceof Fault && error.code === code,
    );
  }
});

Deno.test("no budget left is a stop of its own", async () => {
  const spent = await runTurn({ infer: () => fault("budgetExhausted") }, "go");
  assert.equal(spent.end.stop, "budget");
  const inCall = await runTurn({
    infer: () => reply("partly", [callOf("c1")]),
    call: () => fault("budgetExhausted"),
  }, "go");
  assert.deepEqual(inCall.end, { stop: "budget", text: "partly" });
});

Deno.test("nobody letting go of the brake is a stop of its own", async () => {
  const braked = new Fault("budgetExhausted", "Cannot: too fast", { detail: { brake: true } });
  assert.equal((await runTurn({ infer: () => braked }, "go")).end.stop, "brake");
});

Deno.test("an answer that came whole is an answer, also when it used up the budget", async () => {
  const bench = makeBench({
    infer: () => {
      bench.kernel.tell("signal", { signal: "SIGXCPU" });
      return reply("all of it");
    },
  });
  await bench.start();
  assert.deepEqual(await bench.turn("go"), { stop: "answered", text: "all of it" });
});

Deno.test("a cancelled inference ends the turn with what was streamed; the next turn works", async () => {
  const pending = Promise.withResolvers<never>();
  const bench = makeBench({ infer: (_, n) => n === 0 ? pending.promise : reply("fresh") });
  await bench.start();
  const ending = bench.turn("go");
  await settled();
  bench.kernel.tell("chunk", { textDelta: "I was sa" });
  bench.kernel.tell("chunk", { textDelta: "ying" });
  await settled();
  bench.kernel.tell("signal", { signal: "SIGINT" });
  pending.reject(fault("cancelled"));
  assert.deepEqual(await ending, { stop: "cancelled", text: "I was saying" });
  assert.deepEqual(await bench.turn("again"), { stop: "answered", text: "fresh" });
});

Deno.test("an interrupted call is fed back as cancelled, the rest of the batch is not made", async () => {
  const pending = Promise.withResolvers<ReturnType<typeof resultOf>>();
  const bench = makeBench({
    infer: (_, n) => n === 0 ? reply("", [callOf("c1"), callOf("c2")]) : reply("I stop."),
    call: () => pending.promise,
  });
  await bench.start();
  const ending = bench.turn("go");
  await settled();
  bench.kernel.tell("signal", { signal: "SIGINT" });
  pending.resolve(resultOf(callOf("c1"), "Cannot finish: cancelled", "cancelled"));
  assert.deepEqual(await ending, { stop: "answered", text: "I stop." });
  assert.equal(opsOf(bench), "advertise infer call infer");
  const fed = bench.conversation().filter((each) => each.role === "tool");
  assert.deepEqual(fed.map((each) => each.content.split(":", 1)[0]), ["cancelled", "cancelled"]);
});

Deno.test("a turn interrupted while its instruction files are read ends before it infers", async () => {
  const reading = Promise.withResolvers<ReturnType<typeof resultOf>>();
  const bench = makeBench({
    infer: () => reply("too late"),
    call: () => reading.promise,
    instructions: ["desk/AGENTS.md"],
  });
  await bench.start();
  const ending = bench.turn("go");
  await settled();
  await bench.kernel.ask("signal", { signal: "SIGINT" });
  reading.resolve(resultOf(callOf("instructions-0"), "be brief"));
  assert.deepEqual(await ending, { stop: "cancelled", text: "" });
  assert.doesNotMatch(opsOf(bench), /infer/);
});

const CONCLUDE = [["SIGTERM", "terminated"], ["SIGXCPU", "budget"], ["SIGBRAKE", "brake"]] as const;
for (const [signal, stop] of CONCLUDE) {
  Deno.test(`${signal} ends the turn as ${stop} with the partial answer, making no further call`, async () => {
    const pending = Promise.withResolvers<ReturnType<typeof reply>>();
    const bench = makeBench({ infer: () => pending.promise });
    await bench.start();
    const ending = bench.turn("go");
    await settled();
    bench.kernel.tell("signal", { signal });
    await settled();
    pending.resolve(reply("so far", [callOf("c1")]));
    assert.deepEqual(await ending, { stop, text: "so far" });
    assert.equal(opsOf(bench), "advertise infer");
  });
}

Deno.test("the tool table is asked for once a turn, and again when the c-list changes", async () => {
  const letters = ["a", "b", "c"];
  const snapshots: unknown[] = [];
  const bench = makeBench({
    advertise: (n) => table(letters[n] ?? "f"),
    infer: (_, n) => n < 2 ? reply("", [callOf(`c${n}`)]) : reply("end"),
    call: (call, n) => {
      snapshots.push(Object(bench.asked.at(-1)?.body).snapshot[0]);
      if (n === 0) bench.kernel.tell("capsChanged", null);
      return resultOf(call, "r");
    },
  });
  await bench.start();
  await bench.turn("go");
  assert.equal(opsOf(bench), "advertise infer call advertise infer call infer");
  assert.deepEqual(snapshots, ["a", "b"]);
  await bench.turn("more");
  assert.equal(bench.asked.filter(({ op }) => op === "advertise").length, 3);
});

Deno.test("a call against a table that went stale is fed back, and the table rebuilt", async () => {
  const bench = await runTurn({
    advertise: (n) => table(n === 0 ? "a" : "b"),
    infer: (_, n) => n < 2 ? reply("", [callOf(`c${n}`)]) : reply("end"),
    call: (call, n) => n === 0 ? fault("unknownTool") : resultOf(call, "r"),
  }, "go");
  assert.equal(opsOf(bench), "advertise infer call advertise infer call infer");
  assert.equal(bench.end.text, "end");
});

Deno.test("a table that changes while it is on its way is asked for anew", async () => {
  const bench = makeBench({
    advertise: (n) => {
      if (n === 0) bench.kernel.tell("capsChanged", null);
      return table(n === 0 ? "a" : "b");
    },
    infer: (_, n) => n === 0 ? reply("", [callOf("c")]) : reply("end"),
  });
  await bench.start();
  await bench.turn("go");
  assert.equal(opsOf(bench), "advertise advertise infer call infer");
});

/** Leaves out all but the first two messages and the newest exchange. */
const drastic: Required<Moves>["room"] = (conversation) => {
  const newest = conversation.findLastIndex(({ role }) => role === "assistant");
  return { from: 2, messages: [say("user", "[summary]"), ...conversation.slice(newest)] };
};

Deno.test("past 95 % the runner has room made before it infers, and goes on with what the kernel says", async () => {
  const bench = await runTurn({
    infer: (_, n) => n < 6 ? reply("", [callOf(`c${n}`)]) : reply("end"),
    call: (call) => resultOf(call, "x".repeat(4_000)),
    room: (conversation, { method, share, reserve }) => {
      assert.deepEqual([method, share, reserve], ["compact", 0.6, 1_600]);
      return drastic(conversation, {});
    },
    limits: { contextWindow: 8_000 },
  }, "go");
  assert.equal(bench.end.stop, "answered");
  assert.match(opsOf(bench), /^advertise (infer call )+context infer/);
  assert.equal(bench.conversation()[2]?.content, "[summary]");
  const chars = bench.conversation().reduce((sum, each) => sum + each.content.length, 0);
  assert.ok(chars / 4 < 8_000);
});

Deno.test("below 95 % and without a signal nothing gives way", async () => {
  const bench = await runTurn({
    infer: (_, n) => n < 5 ? reply("", [callOf(`c${n}`)]) : reply("end"),
    call: (call) => resultOf(call, "x".repeat(4_000)),
    limits: { contextWindow: 8_000 },
  }, "go");
  assert.doesNotMatch(opsOf(bench), /context/);
});

Deno.test("a request that cannot fit is contextOverflow, without an inference", async () => {
  const bench = await runTurn({
    infer: () => reply("never"),
    limits: { contextWindow: 100 },
  }, "x".repeat(1_000));
  assert.deepEqual(bench.end, { stop: "contextOverflow", text: "" });
  assert.equal(opsOf(bench), "advertise context");
});

Deno.test("a model that finds the request too long is tried once more with less", async () => {
  const long = Array.from({ length: 4 }, (_, n): ChatMessage[] => [
    reply("", [callOf(`c${n}`)]).message,
    { ...say("tool", "y".repeat(8_000)), toolCallId: callOf(`c${n}`).id, toolName: "file_read" },
  ]).flat();
  const shares: unknown[] = [];
  const moves: Omit<Moves, "infer"> = {
    conversation: [say("system", "s"), say("user", "u"), ...long],
    limits: { contextWindow: 16_000 },
    room: (conversation, { share }) => {
      shares.push(share);
      return drastic(conversation, {});
    },
  };
  const sizes: number[] = [];
  const fine = await runTurn({
    ...moves,
    infer: (conversation, n) => {
      sizes.push(conversation.reduce((sum, each) => sum + each.content.length, 0));
      return n === 0 ? fault("contextOverflow") : reply("end");
    },
  }, "go");
  assert.equal(fine.end.text, "end");
  assert.deepEqual(shares, [0.4]);
  assert.ok((sizes[1] ?? Infinity) < (sizes[0] ?? 0));
  const never = await runTurn({ ...moves, infer: () => fault("contextOverflow") }, "go");
  assert.equal(never.end.stop, "contextOverflow");
  assert.equal(never.asked.filter(({ op }) => op === "infer").length, 2);
});

Deno.test("SIGCTXPRESSURE makes room before the next inference, once", async () => {
  const bench = makeBench({
    infer: (_, n) => n < 4 ? reply("[IMPORTANT] keep", [callOf(`c${n}`)]) : reply("end"),
    call: (call, n) => {
      if (n === 2) {
        const pressure = { used: 7_000, limit: 8_000, recommended: "compact" };
        bench.kernel.tell("signal", { signal: "SIGCTXPRESSURE", pressure });
      }
      return resultOf(call, "x".repeat(400));
    },
    room: (conversation, { important }) => {
      assert.deepEqual(important, [2, 4, 6]);
      return drastic(conversation, {});
    },
    limits: { contextWindow: 8_000 },
  });
  await bench.start();
  await bench.turn("go");
  assert.equal(opsOf(bench).match(/context/g)?.length, 1);
  assert.equal(bench.conversation()[2]?.content, "[summary]");
});

Deno.test("a fault while room is made ends the turn as in an inference", async () => {
  const bench = await runTurn({
    infer: () => reply("never"),
    room: () => fault("budgetExhausted"),
    limits: { contextWindow: 100 },
  }, "x".repeat(1_000));
  assert.equal(bench.end.stop, "budget");
});

Deno.test("how a model finishes decides the stop", async () => {
  const stops: string[] = [];
  for (const finish of ["stop", "length", "contentFilter", "cancelled", "toolCalls"] as const) {
    const { end } = await runTurn({ infer: () => reply("text", [], finish) }, "go");
    stops.push(`${finish}: ${end.stop}`);
  }
  assert.deepEqual(stops, [
    "stop: answered",
    "length: length",
    "contentFilter: upstream",
    "cancelled: cancelled",
    "toolCalls: answered",
  ]);
});
