/** What the kit checks of push configurations, in both bindings. Deliveries are `remit serve`'s: see cli/service. */
import assert from "node:assert/strict";
import { renderPush } from "../../bridges/a2a/serve/mod.ts";
import {
  type Binding,
  BINDINGS,
  type Loose,
  makeWorld,
  message,
  type World,
} from "./_a2a_world.ts";

const CONFIG = {
  ...{ id: "push-1", url: "https://example.com/hook", token: "theirs" },
  authentication: { scheme: "Bearer", credentials: "for-the-hook" },
};

const task = async (
  world: World,
  binding: Binding,
  prefix = "tck-complete-task",
): Promise<string> => (await world.ask(binding, "SendMessage", message(prefix))).value.task.id;

for (const binding of BINDINGS) {
  Deno.test(`PUSH-CREATE-001 PUSH-CREATE-002 PUSH-GET-001 a configuration is kept and told again (${binding})`, async () => {
    const world = makeWorld();
    const taskId = await task(world, binding);
    const made = await world.ask(binding, "CreateTaskPushNotificationConfig", {
      taskId,
      ...CONFIG,
    });
    assert.deepEqual(made.value, { ...CONFIG, taskId });
    const { value } = await world.ask(binding, "GetTaskPushNotificationConfig", {
      taskId,
      id: "push-1",
    });
    assert.deepEqual(value, { ...CONFIG, taskId });
  });

  Deno.test(`PUSH-CREATE-003 one without an id is given one, and one with it replaces (${binding})`, async () => {
    const world = makeWorld();
    const taskId = await task(world, binding);
    const url = "https://example.com/a";
    const { value } = await world.ask(binding, "CreateTaskPushNotificationConfig", { taskId, url });
    assert.match(value.id, /^id\d+$/);
    const again = { taskId, id: value.id, url: "https://example.com/b" };
    await world.ask(binding, "CreateTaskPushNotificationConfig", again);
    const all = await world.ask(binding, "ListTaskPushNotificationConfigs", { taskId });
    assert.deepEqual(all.value.configs.map((each: Loose) => each.url), ["https://example.com/b"]);
  });

  Deno.test(`PUSH-GET-002 one that there is not is not found, nor one of another's task (${binding})`, async () => {
    const world = makeWorld();
    const taskId = await task(world, binding);
    const { error } = await world.ask(binding, "GetTaskPushNotificationConfig", {
      taskId,
      id: "none",
    });
    assert.equal(error?.reason, "TASK_NOT_FOUND");
    const other = await world.ask(
      binding,
      "ListTaskPushNotificationConfigs",
      { taskId: `x${"1".repeat(24)}` },
    );
    assert.equal(other.error?.reason, "TASK_NOT_FOUND");
  });

  Deno.test(`PUSH-LIST-001 PUSH-DEL-001 PUSH-DEL-002 all are listed, and what is deleted is gone, twice (${binding})`, async () => {
    const world = makeWorld();
    const taskId = await task(world, binding);
    for (const id of ["a", "b"]) {
      await world.ask(binding, "CreateTaskPushNotificationConfig", { ...CONFIG, taskId, id });
    }
    const ids = async (): Promise<string[]> =>
      (await world.ask(binding, "ListTaskPushNotificationConfigs", { taskId })).value.configs
        ?.map((each: Loose) => each.id) ?? [];
    assert.deepEqual(await ids(), ["a", "b"]);
    for (let n = 0; n < 2; n++) {
      const { error } = await world.ask(binding, "DeleteTaskPushNotificationConfig", {
        taskId,
        id: "a",
      });
      assert.equal(error, undefined);
      assert.deepEqual(await ids(), ["b"]);
    }
  });

  Deno.test(`PUSH-DELIVER-001 a configuration that comes with a message is the task's from its first state (${binding})`, async () => {
    const world = makeWorld();
    const { value } = await world.ask(binding, "SendMessage", {
      ...message("tck-input-required"),
      configuration: { taskPushNotificationConfig: CONFIG },
    });
    const taskId = value.task.id;
    const all = await world.ask(binding, "ListTaskPushNotificationConfigs", { taskId });
    assert.deepEqual(all.value.configs, [{ ...CONFIG, taskId }]);
  });

  Deno.test(`PUSH-URL-001 a configuration that leads nowhere is refused (${binding})`, async () => {
    const world = makeWorld();
    const taskId = await task(world, binding);
    for (
      const url of [
        "",
        "file:///etc/passwd",
        "javascript:0",
        "ftp://example.com/",
        5,
        "x".repeat(3_000),
      ]
    ) {
      const { error } = await world.ask(binding, "CreateTaskPushNotificationConfig", {
        taskId,
        url,
      });
      assert.equal(error?.reason, "INVALID_PARAMS");
    }
  });
}

Deno.test("PUSH-DELIVER-003 what a delivery says is an event of a stream, without what its receiver did not ask for", async () => {
  const world = makeWorld();
  const id = await task(world, "JSONRPC", "tck-artifact-text");
  const [exchange] = world.starter.of("alice");
  if (exchange === undefined) throw new Error("there is an exchange");
  const told = JSON.parse(renderPush(exchange, null));
  assert.deepEqual(Object.keys(told), ["task"]);
  assert.deepEqual([told.task.id, told.task.status.state], [id, "TASK_STATE_COMPLETED"]);
  assert.equal(told.task.history, undefined);
  const { version } = exchange;
  const failed = { ...exchange, state: "failed" as const, version: version + 1 };
  const event = { kind: "state", version: version + 1, exchange: failed } as const;
  const update = JSON.parse(renderPush(exchange, event));
  assert.equal(update.statusUpdate.status.state, "TASK_STATE_FAILED");
});
