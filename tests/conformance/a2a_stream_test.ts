/** What the kit checks of streams, in both bindings, and what it does not: order, gaps, slow readers, many of them. */
import assert from "node:assert/strict";
import type { Scenarios } from "./_a2a_exchanges.ts";
import {
  type Binding,
  BINDINGS,
  type Loose,
  makeWorld,
  message,
  type World,
} from "./_a2a_world.ts";

type Claim = (world: World, binding: Binding) => Promise<void>;

const kinds = (events: readonly Loose[]): string[] =>
  events.map((each) => Object.keys(each)[0] ?? "");
const lastState = (events: readonly Loose[]): string =>
  events.at(-1)?.statusUpdate?.status.state ?? events.at(-1)?.task?.status.state;
const waiting = async (world: World, binding: Binding): Promise<string> =>
  (await world.ask(binding, "SendMessage", message("tck-input-required"))).value.task.id;

const LONG: Scenarios = {
  "talk": [
    { do: "state", state: "working" },
    { do: "progress", text: "I look" },
    { do: "wait" },
    { do: "state", state: "completed" },
  ],
  "flood": [
    { do: "state", state: "working" },
    ...Array.from({ length: 200 }, () => ({ do: "progress" as const, text: "x".repeat(10_000) })),
    { do: "wait" },
    { do: "state", state: "completed" },
  ],
};

const CLAIMS: Readonly<Record<string, Claim>> = {
  async "CORE-STREAM-001 CORE-STREAM-003 STREAM-ORDER-001 a stream begins with the task and ends with its end"(
    world,
    binding,
  ) {
    const stream = await world.stream(binding, "SendStreamingMessage", message("tck-stream-001"));
    assert.equal(stream.headers.get("content-type"), "text/event-stream");
    const events = await stream.rest();
    assert.deepEqual(kinds(events), ["task", "statusUpdate", "artifactUpdate", "statusUpdate"]);
    assert.deepEqual(
      [events[0].task.status.state, events[1].statusUpdate.status.state, lastState(events)],
      ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"],
    );
    const { task } = events[0];
    for (const event of events.slice(1)) {
      const { taskId, contextId } = event.statusUpdate ?? event.artifactUpdate;
      assert.deepEqual([taskId, contextId], [task.id, task.contextId]);
    }
    assert.equal(world.starter.watching, 0);
  },
  async "CORE-STREAM-002 a task without updates ends its stream"(world, binding) {
    const stream = await world.stream(binding, "SendStreamingMessage", message("tck-stream-002"));
    assert.deepEqual(kinds(await stream.rest()), ["task", "statusUpdate"]);
  },
  async "STREAM-ART-001 pieces of an artifact follow each other, and the last says so"(
    world,
    binding,
  ) {
    const stream = await world.stream(
      binding,
      "SendStreamingMessage",
      message("tck-stream-artifact-chunked"),
    );
    const pieces = (await stream.rest()).flatMap(({ artifactUpdate }) => artifactUpdate ?? []);
    assert.deepEqual(
      pieces.map(({ append = false, lastChunk = false, artifact }) => [
        ...[append, lastChunk, artifact.artifactId, artifact.parts[0].text],
      ]),
      [[false, false, "artifact-1", "chunk-1 "], [true, true, "artifact-1", "chunk-2"]],
    );
  },
  async "STREAM-END-001 a stream of a message ends where it is the peer's turn"(world, binding) {
    const stream = await world.stream(
      binding,
      "SendStreamingMessage",
      message("tck-input-required"),
    );
    assert.equal(lastState(await stream.rest()), "TASK_STATE_INPUT_REQUIRED");
  },
  async "STREAM-SUB-001 STREAM-SUB-002 who subscribes is told the task, then all to its end"(
    world,
    binding,
  ) {
    const id = await waiting(world, binding);
    const stream = await world.stream(binding, "SubscribeToTask", { id });
    assert.equal((await stream.next()).task.id, id);
    await world.ask(binding, "SendMessage", message("tck-stream-001", { taskId: id }));
    const events = await stream.rest();
    assert.deepEqual(
      kinds(events),
      ["statusUpdate", "statusUpdate", "artifactUpdate", "statusUpdate"].slice(
        events.length === 4 ? 0 : 1,
      ),
    );
    assert.equal(lastState(events), "TASK_STATE_COMPLETED");
  },
  async "STREAM-SUB-003 STREAM-SUB-004 there is nothing to subscribe to where a task is over or unknown"(
    world,
    binding,
  ) {
    const { value } = await world.ask(binding, "SendMessage", message("tck-complete-task"));
    const over = await world.ask(binding, "SubscribeToTask", { id: value.task.id });
    const none = await world.ask(binding, "SubscribeToTask", { id: "tck-nonexistent" });
    assert.deepEqual([over.error?.reason, none.error?.reason], [
      ...["UNSUPPORTED_OPERATION", "TASK_NOT_FOUND"],
    ]);
  },
  async "STREAM-ORDER-002 STREAM-ORDER-003 all who subscribe are told the same in the same order"(
    world,
    binding,
  ) {
    const id = await waiting(world, binding);
    const streams = await Promise.all(
      Array.from({ length: 3 }, () => world.stream(binding, "SubscribeToTask", { id })),
    );
    await world.ask(binding, "SendMessage", message("tck-stream-001", { taskId: id }));
    const [first, ...others] = await Promise.all(streams.map((stream) => stream.rest()));
    assert.ok((first?.length ?? 0) > 2);
    for (const other of others) assert.deepEqual(other, first);
  },
  async "STREAM-ORDER-004 a stream that is closed takes nothing from the others"(world, binding) {
    const id = await waiting(world, binding);
    const [one, other] = [
      await world.stream(binding, "SubscribeToTask", { id }),
      await world.stream(binding, "SubscribeToTask", { id }),
    ];
    await one.close();
    await world.ask(binding, "SendMessage", message("tck-complete-task", { taskId: id }));
    assert.equal(lastState(await other.rest()), "TASK_STATE_COMPLETED");
    assert.equal(world.starter.watching, 0);
  },
  async "STREAM-PROGRESS-001 words of the work are told to the peer that may see them"(
    world,
    binding,
  ) {
    const talk = async (token: string): Promise<string[]> => {
      const stream = await world.stream(
        ...[binding, "SendStreamingMessage", message("talk"), { token }] as const,
      );
      const events = [await stream.next(), await stream.next()];
      if (token === "alice") events.push(await stream.next());
      await world.starter.resume();
      events.push(...await stream.rest());
      return events.flatMap(({ statusUpdate }) =>
        statusUpdate?.status.message?.parts.map(({ text }: Loose) => text) ?? []
      );
    };
    assert.deepEqual(await talk("alice"), ["I look"]);
    assert.deepEqual(await talk("bob"), []);
  },
  async "STREAM-ALIVE-001 a stream where nothing happens gives signs of life"(world, binding) {
    const id = await waiting(world, binding);
    const verb = binding === "JSONRPC"
      ? { path: "/a2a", body: { jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id } } }
      : { path: `/a2a/v1/tasks/${id}:subscribe`, body: {} };
    const response = await world.raw(verb.path, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0" },
      body: JSON.stringify(verb.body),
    });
    const reader = response.body?.getReader();
    await reader?.read();
    world.pass(15_000);
    const { value } = await reader?.read() ?? {};
    assert.equal(new TextDecoder().decode(value), ": alive\n\n");
    await reader?.cancel();
    world.pass(15_000);
    assert.equal(world.timers, 0, "no clock runs where there is no stream");
  },
  async "STREAM-SLOW-001 who reads nothing is ended, and others are not"(world, binding) {
    const stream = await world.stream(binding, "SendStreamingMessage", message("flood"));
    const reader = await world.stream(binding, "SendStreamingMessage", message("talk"));
    await reader.next();
    for (let n = 0; n < 2_000; n++) await Promise.resolve();
    const before = await stream.rest();
    assert.ok(before.length > 10, "what was there before is told");
    assert.ok(before.length < 150, `and then it ends: ${before.length}`);
    await reader.next();
    assert.deepEqual(kinds([await reader.next()]), ["statusUpdate"]);
    await world.starter.resume();
    assert.equal(lastState(await reader.rest()), "TASK_STATE_COMPLETED");
    assert.equal(world.starter.watching, 0);
  },
  async "STREAM-SLOW-002 who stops reading is ended after some signs of life"(world, binding) {
    const id = await waiting(world, binding);
    await world.stream(binding, "SubscribeToTask", { id });
    assert.equal(world.starter.watching, 1);
    for (let n = 0; n < 6; n++) world.pass(15_000);
    await new Promise<void>((resolve) => queueMicrotask(resolve));
    assert.equal(world.starter.watching, 0);
  },
};

for (const [claim, check] of Object.entries(CLAIMS)) {
  for (const binding of BINDINGS) {
    Deno.test(
      `${claim} (${binding})`,
      async () =>
        await check(makeWorld({ scenarios: LONG, most: { bufferBytes: 262_144 } }), binding),
    );
  }
}

Deno.test("a peer has so many streams and no more, and its own share leaves room for others", async () => {
  const world = makeWorld({ most: { streams: 5, perPeer: 3 } });
  const ids: Record<string, string> = {};
  for (const token of ["alice", "bob"]) {
    const { value } = await world.ask(
      ...["JSONRPC", "SendMessage", message("tck-input-required"), { token }] as const,
    );
    ids[token] = value.task.id;
  }
  const subscribe = (token: string) =>
    world.stream("HTTP+JSON", "SubscribeToTask", { id: ids[token] }, { token });
  const mine = [await subscribe("alice"), await subscribe("alice"), await subscribe("alice")];
  for (const binding of BINDINGS) {
    const { status, headers } = await world.ask(binding, "SubscribeToTask", { id: ids["alice"] });
    assert.deepEqual([status, headers.get("retry-after")], [429, "10"]);
  }
  await subscribe("bob");
  await mine[0]?.close();
  await subscribe("alice");
});

Deno.test("a place that a refused stream held is given back", async () => {
  const world = makeWorld({ most: { streams: 2, perPeer: 2 } });
  for (let n = 0; n < 5; n++) {
    for (const binding of BINDINGS) {
      const { error } = await world.ask(binding, "SubscribeToTask", { id: "none" });
      assert.equal(error?.reason, "TASK_NOT_FOUND");
    }
  }
});

Deno.test("two hundred streams are told all, and cost one clock", async () => {
  const world = makeWorld();
  const { value } = await world.ask("JSONRPC", "SendMessage", message("tck-input-required"));
  const { id } = value.task;
  const streams = await Promise.all(
    Array.from({ length: 200 }, () => world.stream("JSONRPC", "SubscribeToTask", { id })),
  );
  assert.equal(world.timers, 1);
  await world.ask("JSONRPC", "SendMessage", message("tck-stream-001", { taskId: id }));
  const all = await Promise.all(streams.map((stream) => stream.rest()));
  assert.ok(all.every((events) => lastState(events) === "TASK_STATE_COMPLETED"));
  assert.equal(world.starter.watching, 0);
});

Deno.test("a service that ends, ends its streams and takes nothing new", async () => {
  const world = makeWorld();
  const { value } = await world.ask("JSONRPC", "SendMessage", message("tck-input-required"));
  const stream = await world.stream("JSONRPC", "SubscribeToTask", { id: value.task.id });
  await world.server.close();
  assert.deepEqual(kinds(await stream.rest()), ["task"]);
  assert.equal((await world.ask("JSONRPC", "ListTasks")).status, 503);
  assert.equal(world.starter.watching, 0);
});

Deno.test("a blocking request gives up after its time and tells the task as it stands", async () => {
  const world = makeWorld({ scenarios: LONG });
  const asked = world.ask("JSONRPC", "SendMessage", message("talk"));
  while (world.timers === 0) await Promise.resolve();
  world.pass(55_000);
  assert.equal((await asked).value.task.status.state, "TASK_STATE_SUBMITTED");
  assert.equal(world.starter.watching, 0);
});
