/** The SDK's own client against `remit serve`, as processes of their own: one service for all claims. */
import assert from "node:assert/strict";
import {
  Role,
  type SendMessageRequest,
  type Task,
  TaskState,
  verifyAgentCardSignature,
} from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { onMachine } from "../fake/remit.ts";
import { configure, startService } from "../fake/service.ts";

const here = new URL(".", import.meta.url).pathname;
const CONFIG = [
  `model: scripted:${here}a2a_kit.yaml`,
  "serve: { name: Desk, skills: [{ id: echo, name: Echo, description: Says hello. }] }",
  "peers:",
  "  alice: { accept: auto }",
  "  mallory: { accept: ask }",
  "",
].join("\n");

async function connect(url: string, token: string, binding: string): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  const transports = binding === "JSONRPC"
    ? [new JsonRpcTransportFactory({ fetchImpl })]
    : [new RestTransportFactory({ fetchImpl })];
  const cardResolver = new DefaultAgentCardResolver({ fetchImpl });
  return await new ClientFactory({ transports, cardResolver }).createFromUrl(url);
}

function words(id: string, taskId = "", returnImmediately = false): SendMessageRequest {
  return {
    ...{ tenant: "", metadata: undefined },
    configuration: {
      ...{ acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
    },
    message: {
      ...{ messageId: id, contextId: "", taskId, role: Role.ROLE_USER },
      parts: [{
        content: { $case: "text", value: "hello" },
        ...{ metadata: undefined, filename: "", mediaType: "" },
      }],
      ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
    },
  };
}

async function send(client: Client, request: SendMessageRequest): Promise<Task> {
  const told = await client.sendMessage(request);
  if ("messageId" in told) throw new Error("a task was expected");
  return told;
}

const textOf = (task: Task): string =>
  task.status?.message?.parts.map(({ content }) => content?.value).join() ?? "";

Deno.test("the SDK's client and remit serve: a card that is signed, answers, a question, a stream, and nothing for mallory", async () => {
  await onMachine(async (machine) => {
    await configure(machine, CONFIG);
    const token = async (peer: string): Promise<string> => {
      const made = await machine.json(["a2a", "token", "create", peer]);
      if (typeof made !== "object" || made === null || !("token" in made)) throw new Error("token");
      return String(made.token);
    };
    const [mine, hers] = [await token("alice"), await token("mallory")];
    const service = await startService(machine);

    const card = await (await fetch(`${service.url}/.well-known/agent-card.json`)).json();
    const { keys } = await (await fetch(`${service.url}/.well-known/jwks.json`)).json();
    await verifyAgentCardSignature((kid) =>
      Promise.resolve(keys.find((key: { readonly kid: string }) => key.kid === kid))
    )(card);
    assert.deepEqual([card.name, card.skills[0].id], ["Desk", "echo"]);

    for (const binding of ["JSONRPC", "HTTP+JSON"]) {
      const client = await connect(service.url, mine, binding);
      const done = await send(client, words(`tck-complete-task-${binding}`));
      assert.equal(done.status?.state, TaskState.TASK_STATE_COMPLETED);
      assert.equal(textOf(done), "Hello from TCK");
      await assert.rejects(
        client.sendMessage(words("again", done.id)),
        (error) => error instanceof UnsupportedOperationError,
      );

      const asked = await send(client, words(`tck-input-required-${binding}`));
      assert.equal(asked.status?.state, TaskState.TASK_STATE_INPUT_REQUIRED);
      assert.equal(textOf(asked), "What else?");
      const answered = await send(client, words(`tck-complete-task-2-${binding}`, asked.id));
      assert.deepEqual([answered.id, answered.contextId], [asked.id, asked.contextId]);
      assert.equal(answered.status?.state, TaskState.TASK_STATE_COMPLETED);

      const direct = await client.sendMessage(words(`tck-message-response-${binding}`));
      assert.ok("messageId" in direct && direct.role === Role.ROLE_AGENT);

      const seen = [];
      for await (const { payload } of client.sendMessageStream(words(`stream-${binding}`))) {
        seen.push(payload?.$case);
      }
      assert.deepEqual([seen[0], seen.at(-1)], ["task", "statusUpdate"]);

      const mallory = await connect(service.url, hers, binding);
      await assert.rejects(
        mallory.getTask({ id: asked.id, tenant: "" }),
        (error) => error instanceof TaskNotFoundError,
      );
      const held = await send(mallory, words(`tck-complete-task-${binding}`, "", true));
      assert.equal(held.status?.state, TaskState.TASK_STATE_SUBMITTED);
      const list = { tenant: "", contextId: "", status: 0, pageToken: "" };
      const listed = await mallory.listTasks({ ...list, statusTimestampAfter: undefined });
      assert.ok(listed.tasks.every(({ id }) => id !== asked.id && id !== done.id));
      const canceled = await mallory.cancelTask({ id: held.id, tenant: "", metadata: undefined });
      assert.equal(canceled.status?.state, TaskState.TASK_STATE_CANCELED);
    }

    const client = await connect(service.url, mine, "HTTP+JSON");
    const open = await send(client, words("tck-input-required-open"));
    const events = client.resubscribeTask({ id: open.id, tenant: "" });
    assert.equal((await events.next()).value?.payload?.$case, "task");
    service.kill("SIGTERM");
    assert.equal((await events.next()).done, true, "a service that ends, ends its streams");
    assert.equal(await service.ended, 0);
  });
});
