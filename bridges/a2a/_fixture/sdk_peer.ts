/** A peer on the SDK's own server: the first word of a message says what the peer does. @module */
import { type AgentCard, SSE_HEADERS, type Task, TaskState } from "@a2a-js/sdk";
import { formatSSEEvent } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
  UnauthenticatedUser,
} from "@a2a-js/sdk/server";
import type { Message, Part } from "@a2a-js/sdk";

/** A listening peer. */
export interface SdkPeer extends AsyncDisposable {
  readonly url: string;
  /** Messages received, by id. */
  readonly messages: readonly Message[];
  /** Ids of tasks that were cancelled. */
  readonly cancelled: readonly string[];
  /** Resolves when the next task is cancelled. */
  cancellation(): Promise<void>;
}

const part = (value: string | Uint8Array): Part => ({
  content: typeof value === "string"
    ? { $case: "text", value }
    // The SDK's own type wants a Buffer, which is a byte array.
    : {
      $case: "raw",
      value: value as unknown as Extract<Part["content"], { $case: "raw" }>["value"],
    },
  ...{ metadata: undefined, filename: "", mediaType: typeof value === "string" ? "" : "image/png" },
});

/** Starts the peer. */
export function sdkPeer(options: { readonly streaming?: boolean } = {}): SdkPeer {
  const messages: Message[] = [], cancelled: string[] = [];
  let hear = (): void => undefined;
  const executor: AgentExecutor = {
    async execute({ taskId, contextId, userMessage, task }, bus) {
      await Promise.resolve();
      messages.push(userMessage);
      const said = userMessage.parts.map(({ content }) =>
        content?.$case === "text" ? content.value : JSON.stringify(content?.value ?? null)
      );
      const [word = ""] = (said[0] ?? "").split(" ");
      const say = (text: string): Message => ({
        ...{ messageId: crypto.randomUUID(), contextId, taskId, role: 2, parts: [part(text)] },
        ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
      });
      const status = (state: TaskState, text?: string): void =>
        bus.publish(AgentEvent.statusUpdate({
          ...{ taskId, contextId, metadata: undefined },
          status: {
            ...{ state, timestamp: new Date().toISOString() },
            message: text === undefined ? undefined : say(text),
          },
        }));
      const made: Task = {
        ...{ id: taskId, contextId, artifacts: [], history: [userMessage], metadata: undefined },
        status: { state: TaskState.TASK_STATE_SUBMITTED, timestamp: "", message: undefined },
      };
      bus.publish(AgentEvent.task(task ?? made));
      status(TaskState.TASK_STATE_WORKING, "I am on it");
      if (word === "slow") return;
      if (word === "ask") status(TaskState.TASK_STATE_INPUT_REQUIRED, "Which quay?");
      else if (word === "fail") status(TaskState.TASK_STATE_FAILED, "I cannot");
      else {
        const bytes = word === "bytes" ? [part(new Uint8Array([137, 80, 78, 71]))] : [];
        bus.publish(AgentEvent.artifactUpdate({
          ...{ taskId, contextId, append: false, lastChunk: true, metadata: undefined },
          artifact: {
            ...{ artifactId: "a1", name: "answer", description: "", metadata: undefined },
            ...{ parts: [part(`echo: ${said.join(" | ")}`), ...bytes], extensions: [] },
          },
        }));
        status(TaskState.TASK_STATE_COMPLETED, "Done");
      }
      bus.finished();
    },
    async cancelTask(taskId, bus) {
      await Promise.resolve();
      bus.publish(AgentEvent.statusUpdate({
        ...{ taskId, contextId: "", metadata: undefined },
        status: { state: TaskState.TASK_STATE_CANCELED, timestamp: "", message: undefined },
      }));
      bus.finished();
    },
  };
  const card = (url: string): AgentCard => ({
    ...{ name: "Sdk", description: "Echoes.", version: "1.3.0", provider: undefined },
    supportedInterfaces: [{
      ...{ url: `${url}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "" },
    }],
    capabilities: { streaming: options.streaming ?? true, extensions: [] },
    ...{ securitySchemes: {}, securityRequirements: [], signatures: [] },
    ...{ defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"] },
    skills: [{
      ...{ id: "echo", name: "Echo", description: "Says it again.", tags: ["echo"] },
      ...{ examples: [], inputModes: [], outputModes: [], securityRequirements: [] },
    }],
  });
  let handler: JsonRpcTransportHandler | undefined;
  // Streams that never end must not keep the server alive.
  const ending = new AbortController();
  const close = async (): Promise<void> => {
    ending.abort();
    await server.finished;
  };
  const server: Deno.HttpServer<Deno.NetAddr> = Deno.serve({
    ...{ hostname: "127.0.0.1", port: 0, onListen: () => {}, signal: ending.signal },
    async handler(request): Promise<Response> {
      if (request.method === "GET") {
        return new URL(request.url).pathname === "/.well-known/agent-card.json"
          ? Response.json(card(url))
          : new Response("", { status: 404 });
      }
      const context = new ServerCallContext({
        user: new UnauthenticatedUser(),
        requestedVersion: request.headers.get("a2a-version") ?? "",
      });
      const asked = await request.json();
      if (asked.method === "CancelTask") {
        cancelled.push(asked.params.id);
        hear();
      }
      handler ??= new JsonRpcTransportHandler(
        new DefaultRequestHandler(card(url), new InMemoryTaskStore(), executor),
      );
      const answer = await handler.handle(asked, context);
      if (!(Symbol.asyncIterator in answer)) return Response.json(answer);
      const encoder = new TextEncoder();
      const body = ReadableStream.from((async function* () {
        for await (const event of answer) yield encoder.encode(formatSSEEvent(event));
      })());
      return new Response(body, { headers: { ...SSE_HEADERS } });
    },
  });
  const url: string = `http://127.0.0.1:${server.addr.port}`;
  return {
    url,
    messages,
    cancelled,
    cancellation: () => new Promise((resolve) => hear = resolve),
    [Symbol.asyncDispose]: close,
  };
}
