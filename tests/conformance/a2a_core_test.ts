/** What the kit checks of the core operations, in both bindings, by the requirements' own names. */
import assert from "node:assert/strict";
import {
  type Binding,
  BINDINGS,
  type Loose,
  makeWorld,
  message,
  type World,
} from "./_a2a_world.ts";

type Claim = (world: World, binding: Binding) => Promise<void>;

const send = async (world: World, binding: Binding, params: Loose): Promise<Loose> => {
  const { value, error } = await world.ask(binding, "SendMessage", params);
  assert.equal(error, undefined);
  return value.task;
};
const completed = (world: World, binding: Binding): Promise<Loose> =>
  send(world, binding, message("tck-complete-task"));
const open = (world: World, binding: Binding): Promise<Loose> =>
  send(world, binding, message("tck-input-required"));

const CLAIMS: Readonly<Record<string, Claim>> = {
  async "CORE-SEND-001 a message is answered with a task"(world, binding) {
    const task = await completed(world, binding);
    assert.match(task.id, /^x[0-9a-z]{24}$/);
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual(task.status.message.parts, [{ text: "Hello from TCK" }]);
  },
  async "CORE-SEND-002 a task that is over takes no message"(world, binding) {
    const { id } = await completed(world, binding);
    const { error } = await world.ask(binding, "SendMessage", message("again", { taskId: id }));
    assert.equal(error?.reason, "UNSUPPORTED_OPERATION");
  },
  async "CORE-SEND-003 a media type that the card does not take is refused"(world, binding) {
    const parts = [{ raw: "dGNr", mediaType: "audio/x-tck" }];
    const { error } = await world.ask(binding, "SendMessage", message("ct", { parts }));
    assert.equal(error?.reason, "CONTENT_TYPE_NOT_SUPPORTED");
  },
  async "CORE-GET-001 a task is told as it stands"(world, binding) {
    const task = await completed(world, binding);
    const { value } = await world.ask(binding, "GetTask", { id: task.id });
    assert.deepEqual([value.id, value.contextId, value.status], [
      ...[task.id, task.contextId, task.status],
    ]);
  },
  async "CORE-GET-002 CORE-CANCEL-003 CORE-MULTI-004 an unknown task is not found"(world, binding) {
    for (const id of ["tck-nonexistent", `x${"0".repeat(24)}`]) {
      const found = [
        await world.ask(binding, "GetTask", { id }),
        await world.ask(binding, "CancelTask", { id }),
        await world.ask(binding, "SendMessage", message("to", { taskId: id })),
      ];
      assert.deepEqual(found.map(({ error }) => error?.reason), Array(3).fill("TASK_NOT_FOUND"));
    }
  },
  async "CORE-CANCEL-001 a task that waits for its peer is canceled"(world, binding) {
    const { id } = await open(world, binding);
    const { value } = await world.ask(binding, "CancelTask", { id });
    assert.deepEqual([value.id, value.status.state], [id, "TASK_STATE_CANCELED"]);
  },
  async "CORE-CANCEL-002 a task that is over is not canceled"(world, binding) {
    const { id } = await completed(world, binding);
    const { error } = await world.ask(binding, "CancelTask", { id });
    assert.equal(error?.reason, "TASK_NOT_CANCELABLE");
  },
  async "CORE-EXECUTION-MODE-001 a blocking request waits for the end or for a question"(
    world,
    binding,
  ) {
    const ended = await send(world, binding, message("tck-stream-001"));
    assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
    assert.equal(ended.artifacts.length, 1);
    assert.equal((await open(world, binding)).status.state, "TASK_STATE_INPUT_REQUIRED");
    assert.equal(world.starter.watching, 0);
  },
  async "CORE-EXECUTION-MODE-002 returnImmediately is answered before the work"(world, binding) {
    const task = await send(world, binding, {
      ...message("tck-stream-001"),
      configuration: { returnImmediately: true },
    });
    assert.equal(task.status.state, "TASK_STATE_SUBMITTED");
  },
  async "CORE-MULTI-001 CORE-MULTI-001a CORE-MULTI-003 ids are ours, and each task has its own"(
    world,
    binding,
  ) {
    const [one, two] = [await completed(world, binding), await completed(world, binding)];
    assert.notEqual(one.id, two.id);
    assert.notEqual(one.contextId, two.contextId);
    assert.ok(one.contextId.length > 8);
  },
  async "CORE-MULTI-002 CORE-MULTI-002a a context that the peer names is kept, or the request refused"(
    world,
    binding,
  ) {
    const task = await send(world, binding, message("tck-complete-task", { contextId: "mine-1" }));
    assert.equal(task.contextId, "mine-1");
    const { error } = await world.ask(
      binding,
      "SendMessage",
      message("tck-complete-task", { contextId: "mine 1" }),
    );
    assert.equal(error?.reason, "INVALID_PARAMS");
  },
  async "CORE-MULTI-005 the context of a task is known by the task"(world, binding) {
    const task = await open(world, binding);
    const again = await send(world, binding, message("tck-complete-task", { taskId: task.id }));
    assert.deepEqual([again.id, again.contextId], [task.id, task.contextId]);
  },
  async "CORE-MULTI-006 a task in another context is refused"(world, binding) {
    const { id } = await open(world, binding);
    const { error } = await world.ask(
      binding,
      "SendMessage",
      message("tck-complete-task", { taskId: id, contextId: "wrong" }),
    );
    assert.equal(error?.reason, "INVALID_PARAMS");
  },
  async "CORE-HIST-001 CORE-HIST-002 CORE-HIST-003 no more history is told than is asked for"(
    world,
    binding,
  ) {
    const { id } = await open(world, binding);
    for (const each of ["tck-input-required", "tck-complete-task"]) {
      await send(world, binding, message(each, { taskId: id }));
    }
    const told = async (historyLength?: number): Promise<number> => {
      const asked = historyLength === undefined ? { id } : { id, historyLength };
      return (await world.ask(binding, "GetTask", asked)).value.history?.length ?? -1;
    };
    assert.deepEqual([await told(0), await told(1), await told(2), await told()], [-1, 1, 2, 3]);
    const none = await send(world, binding, {
      ...message("tck-complete-task"),
      configuration: { historyLength: 0 },
    });
    assert.equal(none.history, undefined);
    const { error } = await world.ask(binding, "GetTask", { id, historyLength: -1 });
    assert.equal(error?.reason, "INVALID_PARAMS");
  },
  async "CORE-HIST-004 CORE-HIST-005 CORE-HIST-006 history is what was said, in its order"(
    world,
    binding,
  ) {
    const { id } = await open(world, binding);
    const said = ["tck-input-required", "tck-complete-task"].map((each) =>
      message(each, { taskId: id })
    );
    for (const each of said) await send(world, binding, each);
    const { value } = await world.ask(binding, "GetTask", { id });
    assert.deepEqual(
      value.history.slice(1).map(({ parts }: Loose) => parts),
      said.map((each) => each.message.parts),
    );
    assert.ok(value.history.every(({ role }: Loose) => role === "ROLE_USER"));
  },
  async "CORE-LIST-001 AUTH-SCOPE-002 a peer lists its own tasks only"(world, binding) {
    const { id } = await completed(world, binding);
    const mine = await world.ask(binding, "ListTasks");
    const theirs = await world.ask(binding, "ListTasks", {}, { token: "bob" });
    assert.deepEqual(mine.value.tasks.map((each: Loose) => each.id), [id]);
    assert.deepEqual(theirs.value, { tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 });
  },
  async "CORE-LIST-002 CORE-LIST-003 CORE-LIST-004 pages follow each other, newest first"(
    world,
    binding,
  ) {
    const made = [];
    for (let n = 0; n < 5; n++) {
      made.unshift(
        (await send(world, binding, message("tck-complete-task", { contextId: "c" }))).id,
      );
    }
    await completed(world, binding);
    const seen = [];
    let pageToken = "";
    const sizes = [];
    do {
      const asked = pageToken === "" ? {} : { pageToken };
      const { value } = await world.ask(binding, "ListTasks", {
        ...{ contextId: "c", pageSize: 2, ...asked },
      });
      assert.deepEqual([value.pageSize, value.totalSize], [2, 5]);
      sizes.push(value.tasks.length);
      seen.push(...value.tasks.map((each: Loose) => each.id));
      pageToken = value.nextPageToken;
    } while (pageToken !== "");
    assert.deepEqual([sizes, seen], [[2, 2, 1], made]);
    const { error } = await world.ask(binding, "ListTasks", { pageToken: "none" });
    assert.equal(error?.reason, "INVALID_PARAMS");
  },
  async "CORE-LIST-005 artifacts are listed where they are asked for, and then always"(
    world,
    binding,
  ) {
    await send(world, binding, message("tck-artifact-text"));
    await completed(world, binding);
    const plain = await world.ask(binding, "ListTasks");
    assert.ok(plain.value.tasks.every((task: Loose) => !("artifacts" in task)));
    const full = await world.ask(binding, "ListTasks", { includeArtifacts: true });
    assert.deepEqual(full.value.tasks.map((task: Loose) => task.artifacts.length), [0, 1]);
  },
  async "CORE-LIST-006 tasks are filtered by state and by time"(world, binding) {
    const first = await completed(world, binding);
    const second = await open(world, binding);
    const ids = async (asked: Loose): Promise<string[]> =>
      (await world.ask(binding, "ListTasks", asked)).value.tasks.map((each: Loose) => each.id);
    assert.deepEqual(await ids({ status: "TASK_STATE_INPUT_REQUIRED" }), [second.id]);
    assert.deepEqual(await ids({ statusTimestampAfter: second.status.timestamp }), [second.id]);
    assert.deepEqual(await ids({ statusTimestampAfter: first.status.timestamp }), [
      ...[second.id, first.id],
    ]);
    const { error } = await world.ask(binding, "ListTasks", { statusTimestampAfter: "yesterday" });
    assert.equal(error?.reason, "INVALID_PARAMS");
  },
  async "DM-MSG-001 DM-MSG-002 an agent that answers with a message alone is told as that"(
    world,
    binding,
  ) {
    const { value } = await world.ask(binding, "SendMessage", message("tck-message-response"));
    assert.equal(value.task, undefined);
    assert.equal(value.message.role, "ROLE_AGENT");
    assert.deepEqual(value.message.parts, [{ text: "Direct message response" }]);
    assert.ok(value.message.messageId !== "" && value.message.contextId !== "");
  },
  async "DM-ART-001 DM-PART-001 artifacts hold text, bytes, links and data"(world, binding) {
    const part = async (prefix: string): Promise<Loose> =>
      (await send(world, binding, message(prefix))).artifacts[0].parts[0];
    assert.deepEqual(await part("tck-artifact-text"), { text: "Generated text content" });
    const file = { filename: "output.txt", mediaType: "text/plain" };
    assert.deepEqual(await part("tck-artifact-file"), { raw: "VENLIGZpbGU=", ...file });
    assert.deepEqual(await part("tck-artifact-file-url"), {
      ...{ url: "https://example.com/output.txt", ...file },
    });
    assert.deepEqual(await part("tck-artifact-data"), { data: { key: "value", count: 42 } });
  },
  async "DM-TASK-001 DM-STATUS-001 DM-SERIAL-004 required fields are always there"(world, binding) {
    const task = await send(world, binding, message("tck-artifact-text"));
    assert.deepEqual(Object.keys(task).toSorted(), [
      ...["artifacts", "contextId", "history", "id", "status"],
    ]);
    assert.deepEqual(Object.keys(task.artifacts[0]).toSorted(), ["artifactId", "name", "parts"]);
    assert.deepEqual(Object.keys(task.history[0]).toSorted(), [
      ...["contextId", "messageId", "parts", "role", "taskId"],
    ]);
  },
  async "DM-TASK-002 DM-SERIAL-002 states and roles are words of the proto"(world, binding) {
    const states = [];
    for (const each of ["tck-complete-task", "tck-input-required", "tck-reject-task"]) {
      states.push((await send(world, binding, message(each))).status.state);
    }
    assert.deepEqual(states, [
      ...["TASK_STATE_COMPLETED", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_REJECTED"],
    ]);
  },
  async "DM-SERIAL-001 DM-SERIAL-003 names are camel case, times end with Z"(world, binding) {
    const text = JSON.stringify(await send(world, binding, message("tck-artifact-file")));
    assert.doesNotMatch(text, /"[a-z]+_[a-z_]+":/);
    assert.match(text, /"timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/);
  },
  async "DM-SERIAL-005 fields that nobody knows are left out"(world, binding) {
    const task = await send(world, binding, {
      ...message("tck-complete-task", { tckUnknownField: "x" }),
      tckExtraParam: 42,
    });
    assert.ok(!JSON.stringify(task).includes("tckUnknownField"));
  },
  async "DM-SERIAL-006 metadata, extensions and references come back as they were sent"(
    world,
    binding,
  ) {
    const given = {
      metadata: { a: { b: [1, null, "x"] } },
      extensions: ["urn:one"],
      referenceTaskIds: ["t-1"],
    };
    const { id } = await send(world, binding, {
      ...message("tck-complete-task", given),
      metadata: { of: "request" },
    });
    const { value } = await world.ask(binding, "GetTask", { id });
    const [{ metadata, extensions, referenceTaskIds }] = value.history;
    assert.deepEqual({ metadata, extensions, referenceTaskIds }, given);
    assert.deepEqual(value.metadata, { of: "request" });
  },
  async "AUTH-SCOPE-001 AUTH-SCOPE-003 another's task and one that is not are one answer"(
    world,
    binding,
  ) {
    const { id } = await open(world, binding);
    const asks: readonly (readonly [string, Loose])[] = [
      ["GetTask", { id }],
      ["CancelTask", { id }],
      ["SubscribeToTask", { id }],
      ["SendMessage", message("tck-complete-task", { taskId: id })],
    ];
    for (const [method, params] of asks) {
      const theirs = await world.ask(binding, method, params, { token: "bob" });
      const text = JSON.stringify(params).replaceAll(id, `x${"9".repeat(24)}`);
      const none = await world.ask(binding, method, JSON.parse(text), { token: "bob" });
      assert.deepEqual([theirs.status, theirs.body], [none.status, none.body], method);
      assert.equal(theirs.error?.reason, "TASK_NOT_FOUND");
    }
    assert.equal((await world.ask(binding, "GetTask", { id })).value.id, id);
  },
  async "AUTH-SERVER-002 CARD-EXT-001 nothing is answered without a token"(world, binding) {
    const asks: readonly (readonly [string, Loose])[] = [
      ["SendMessage", message("tck-complete-task")],
      ["ListTasks", {}],
      ["GetExtendedAgentCard", {}],
    ];
    for (const [method, params] of asks) {
      for (const token of [null, "mallory"]) {
        const { status, headers, error } = await world.ask(binding, method, params, { token });
        assert.equal(status, 401);
        assert.match(headers.get("www-authenticate") ?? "", /^Bearer realm="remit"/);
        assert.equal(error?.message, "A token is needed");
      }
    }
    assert.deepEqual(world.starter.asked, {});
  },
  async "CORE-CAP-001 deliveries are refused to a peer that may have none"(world, binding) {
    const asks: readonly (readonly [string, Loose])[] = [
      ["CreateTaskPushNotificationConfig", { taskId: "t", url: "https://example.com/" }],
      ["GetTaskPushNotificationConfig", { taskId: "t", id: "p" }],
      ["ListTaskPushNotificationConfigs", { taskId: "t" }],
      ["DeleteTaskPushNotificationConfig", { taskId: "t", id: "p" }],
    ];
    for (const [method, params] of asks) {
      const { error } = await world.ask(binding, method, params, { token: "bob" });
      assert.equal(error?.reason, "PUSH_NOTIFICATION_NOT_SUPPORTED", method);
    }
    const { error } = await world.ask(binding, "SendMessage", {
      ...message("tck-complete-task"),
      configuration: { taskPushNotificationConfig: { url: "https://example.com/" } },
    }, { token: "bob" });
    assert.equal(error?.reason, "PUSH_NOTIFICATION_NOT_SUPPORTED");
    assert.equal(world.starter.of("bob").length, 0);
  },
};

for (const [claim, check] of Object.entries(CLAIMS)) {
  for (const binding of BINDINGS) {
    Deno.test(`${claim} (${binding})`, async () => await check(makeWorld(), binding));
  }
}
