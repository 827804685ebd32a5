/** The SDK's own client, in both of its transports, against what we serve. */
import assert from "node:assert/strict";
import { Role, type SendMessageRequest, type Task, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { TaskNotCancelableError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import { BASE, type Binding, BINDINGS, makeWorld, type World } from "./_a2a_world.ts";

async function connect(world: World, binding: Binding): Promise<Client> {
  const fetchImpl: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname, search } = new URL(request.url);
    return await world.raw(`${pathname}${search}`, {
      ...{ method: request.method, headers: request.headers },
      ...(request.body === null ? {} : { body: await request.text() }),
    });
  };
  const transports = binding === "JSONRPC"
    ? [new JsonRpcTransportFactory({ fetchImpl })]
    : [new RestTransportFactory({ fetchImpl })];
  const factory = new ClientFactory({
    transports,
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return await factory.createFromUrl(BASE);
}

let n = 0;
function words(prefix: string, taskId = ""): SendMessageRequest {
  return {
    ...{ tenant: "", configuration: undefined, metadata: undefined },
    message: {
      ...{ messageId: `${prefix}-${++n}`, contextId: "", taskId, role: Role.ROLE_USER },
      parts: [{
        content: { $case: "text", value: "hello" },
        ...{ metadata: undefined, filename: "", mediaType: "" },
      }],
      ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
    },
  };
}

async function send(client: Client, prefix: string, taskId?: string): Promise<Task> {
  const told = await client.sendMessage(words(prefix, taskId));
  if ("messageId" in told) throw new Error("a task was expected");
  return told;
}

for (const binding of BINDINGS) {
  Deno.test(`the SDK's client finds the card, sends, follows, asks and cancels (${binding})`, async () => {
    const world = makeWorld();
    const client = await connect(world, binding);
    assert.equal(client.transport.protocolName, binding);

    const done = await send(client, "tck-artifact-file");
    assert.equal(done.status?.state, TaskState.TASK_STATE_COMPLETED);
    const [part] = done.artifacts[0]?.parts ?? [];
    assert.equal(part?.content?.$case === "raw" ? part.content.value.toString() : "", "TCK file");

    const open = await send(client, "tck-input-required");
    assert.equal(open.status?.state, TaskState.TASK_STATE_INPUT_REQUIRED);
    const events = client.resubscribeTask({ id: open.id, tenant: "" });
    assert.equal((await events.next()).value?.payload?.$case, "task");
    const finished = send(client, "tck-complete-task", open.id);
    const cases = [];
    for await (const { payload } of events) cases.push(payload?.$case);
    assert.equal(cases.at(-1), "statusUpdate");
    assert.equal((await finished).id, open.id);

    const other = await send(client, "tck-input-required");
    const canceled = await client.cancelTask({ id: other.id, tenant: "", metadata: undefined });
    assert.equal(canceled.status?.state, TaskState.TASK_STATE_CANCELED);
    await assert.rejects(
      client.cancelTask({ id: other.id, tenant: "", metadata: undefined }),
      (error) => error instanceof TaskNotCancelableError,
    );
    await assert.rejects(
      client.getTask({ id: "none", tenant: "" }),
      (error) => error instanceof TaskNotFoundError,
    );

    const listed = await client.listTasks({
      ...{ tenant: "", contextId: "", status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: "" },
      ...{ pageSize: 2, statusTimestampAfter: undefined },
    });
    assert.deepEqual([listed.tasks.length, listed.totalSize], [2, 3]);
    assert.notEqual(listed.nextPageToken, "");
  });

  Deno.test(`the SDK's client streams a message to its end (${binding})`, async () => {
    const client = await connect(makeWorld(), binding);
    const seen = [];
    for await (const { payload } of client.sendMessageStream(words("tck-stream-001"))) {
      seen.push(payload?.$case);
    }
    assert.deepEqual(seen, ["task", "statusUpdate", "artifactUpdate", "statusUpdate"]);
  });

  Deno.test(`the SDK's client is told a message where the agent answers with one alone (${binding})`, async () => {
    const client = await connect(makeWorld(), binding);
    const told = await client.sendMessage(words("tck-message-response"));
    assert.ok("messageId" in told && told.role === Role.ROLE_AGENT);
  });

  Deno.test(`the SDK's client keeps, reads, lists and deletes push configurations (${binding})`, async () => {
    const client = await connect(makeWorld(), binding);
    const { id: taskId } = await send(client, "tck-complete-task");
    const authentication = { scheme: "Bearer", credentials: "x" };
    const config = {
      tenant: "",
      id: "p",
      taskId,
      url: "https://example.com/",
      token: "t",
      authentication,
    };
    assert.deepEqual(await client.createTaskPushNotificationConfig(config), config);
    const place = { tenant: "", taskId, id: "p" };
    assert.deepEqual(await client.getTaskPushNotificationConfig(place), config);
    const list = { tenant: "", taskId, pageSize: 0, pageToken: "" };
    assert.equal((await client.listTaskPushNotificationConfig(list)).configs.length, 1);
    await client.deleteTaskPushNotificationConfig(place);
    assert.equal((await client.listTaskPushNotificationConfig(list)).configs.length, 0);
  });

  Deno.test(`the SDK's client is shown the extended card (${binding})`, async () => {
    const client = await connect(makeWorld(), binding);
    const card = await client.getAgentCard();
    assert.equal(card.capabilities?.extendedAgentCard, true);
    assert.equal(card.skills[0]?.id, "ask");
  });
}
