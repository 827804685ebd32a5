/**
 * A server on the official SDK and nothing else, as a process of its own: the baseline of rows about `remit serve`.
 * `deno run -A bench/a2a/bare.ts echo|kernel`; prints `{"url","pids"}` as one line and serves until its input ends.
 *
 * - `echo`: answers at once, inside the process.
 * - `kernel`: each message is a task of a kernel, with the same scripted model; the least that the same agent takes.
 *
 * @module
 */
import { AgentCard, formatSSEEvent, Role, SSE_HEADERS, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from "@a2a-js/sdk/server";
import { ANSWER, PIECE, pieces, SCENARIO } from "./shape.ts";
import { benchRequest, startBenchKernel } from "../_kernel.ts";

/** What answers: tells each piece, and gives the whole. */
type Answer = (text: string, tell: (piece: string) => void) => Promise<string>;

const echo: Answer = (text, tell) => {
  const count = pieces(text);
  for (let i = 0; i < count; i++) tell(PIECE);
  return Promise.resolve(count === 0 ? ANSWER : PIECE.repeat(count));
};

/** The same agent in a kernel of this bench, asked over its control socket. */
async function kernelAnswer(): Promise<
  { readonly answer: Answer; readonly pid: number; close(): Promise<void> }
> {
  const kernel = await startBenchKernel({ pool: { workers: 2, plugins: 1 } });
  return {
    pid: kernel.pid,
    close: () => kernel.close(),
    async answer(text): Promise<string> {
      const { task } = await kernel.finish({ ...benchRequest(SCENARIO), request: text });
      const { answer } = await kernel.link.ask("task", { task }) as { answer?: string };
      return answer ?? "";
    },
  };
}

function executor(answer: Answer): AgentExecutor {
  return {
    async execute({ taskId, contextId, userMessage }, bus): Promise<void> {
      const first = userMessage.parts[0]?.content;
      const text = first?.$case === "text" ? first.value : "";
      const status = (state: TaskState, said?: string) => ({
        state,
        timestamp: new Date().toISOString(),
        message: said === undefined ? undefined : {
          ...{ messageId: crypto.randomUUID(), contextId, taskId, role: Role.ROLE_AGENT },
          parts: [{
            content: { $case: "text" as const, value: said },
            ...{ metadata: undefined, filename: "", mediaType: "" },
          }],
          ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
        },
      });
      const update = (state: TaskState, said: string): void =>
        bus.publish(AgentEvent.statusUpdate({
          ...{ taskId, contextId, status: status(state, said), metadata: undefined },
        }));
      bus.publish(AgentEvent.task({
        ...{ id: taskId, contextId, status: status(TaskState.TASK_STATE_WORKING) },
        ...{ artifacts: [], history: [userMessage], metadata: undefined },
      }));
      const said = await answer(text, (piece) => update(TaskState.TASK_STATE_WORKING, piece));
      update(TaskState.TASK_STATE_COMPLETED, said);
      bus.finished();
    },
    cancelTask: () => Promise.resolve(),
  };
}

const kernel = Deno.args[0] === "kernel" ? await kernelAnswer() : undefined;
const card = AgentCard.fromJSON({
  ...{ name: "bare", description: "Answers.", version: "1", skills: [] },
  ...{ defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"] },
  ...{ capabilities: { streaming: true }, supportedInterfaces: [] },
});
const handler = new JsonRpcTransportHandler(
  new DefaultRequestHandler(card, new InMemoryTaskStore(), executor(kernel?.answer ?? echo)),
);

async function serve(request: Request): Promise<Response> {
  const context = new ServerCallContext({ requestedVersion: "1.0" });
  const answer = await handler.handle(await request.json(), context);
  if (!(Symbol.asyncIterator in answer)) return Response.json(answer);
  const events = answer[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller): Promise<void> {
      const { done, value } = await events.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(formatSSEEvent(value)));
    },
  });
  return new Response(body, { headers: { "content-type": SSE_HEADERS["Content-Type"] } });
}

const listening = Deno.serve({
  ...{ hostname: "127.0.0.1", port: 0 },
  onListen({ port }): void {
    const pids = [Deno.pid, ...kernel === undefined ? [] : [kernel.pid]];
    const line = JSON.stringify({ url: `http://127.0.0.1:${port}/a2a`, pids });
    Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
  },
}, serve);
for await (const _ of Deno.stdin.readable) { /* until it ends */ }
await listening.shutdown();
await kernel?.close();
