/** Providers of three protocols whose model runs one command in a shell, and then answers that it is done. */
import { type LoopbackProvider, startProvider } from "./foreign_agent.ts";

type Wired = Readonly<Record<string, unknown>>;

function stream(events: readonly Wired[], end = ""): Response {
  const text = events.map((event) =>
    `${typeof event["type"] === "string" ? `event: ${event["type"]}\n` : ""}data: ${
      JSON.stringify(event)
    }\n\n`
  ).join("");
  return new Response(text + end, { headers: { "content-type": "text/event-stream" } });
}

const DONE = "The work is done.";

function responses(body: string, command: string): Response {
  const done = body.includes("function_call_output");
  const name = body.includes('"exec_command"') ? "exec_command" : "shell_command";
  const item = done
    ? {
      type: "message",
      role: "assistant",
      id: "m",
      content: [{ type: "output_text", text: DONE }],
    }
    : {
      ...{ type: "function_call", call_id: "c1", id: "f1", name },
      arguments: JSON.stringify({ cmd: command, command }),
    };
  const usage = {
    ...{ input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    ...{ input_tokens_details: { cached_tokens: 0 } },
    ...{ output_tokens_details: { reasoning_tokens: 0 } },
  };
  return stream([
    { type: "response.created", response: { id: "r" } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: "r", usage } },
  ]);
}

function messages(body: string, command: string): Response {
  const { model, stream: streamed } = JSON.parse(body) as { model: string; stream?: boolean };
  const calls = body.includes('"name":"Bash"') && !body.includes('"tool_result"');
  const usage = { input_tokens: 10, output_tokens: 1 };
  const message = {
    ...{
      id: "m",
      type: "message",
      role: "assistant",
      model,
      content: [],
      stop_reason: null,
      usage,
    },
  };
  if (streamed !== true) {
    return Response.json({
      ...message,
      ...{ content: [{ type: "text", text: DONE }], stop_reason: "end_turn" },
    });
  }
  const block = calls
    ? { type: "tool_use", id: "tu1", name: "Bash", input: {} }
    : { type: "text", text: "" };
  const delta = calls
    ? {
      type: "input_json_delta",
      partial_json: JSON.stringify({ command, description: "works" }),
    }
    : { type: "text_delta", text: DONE };
  return stream([
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: calls ? "tool_use" : "end_turn" },
      usage: { output_tokens: 5 },
    },
    { type: "message_stop" },
  ]);
}

function completions(body: string, command: string): Response {
  const { model } = JSON.parse(body) as { model: string };
  const name = ["bash", "developer__shell"].find((each) => body.includes(`"name":"${each}"`));
  const calls = name !== undefined && !body.includes('"role":"tool"');
  const chunk = (delta: Wired, finish: string | null): Wired => ({
    ...{ id: "c", object: "chat.completion.chunk", created: 1, model },
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const call = {
    ...{ index: 0, id: "t1", type: "function" },
    function: { name, arguments: JSON.stringify({ command, description: "works" }) },
  };
  const said = calls ? { tool_calls: [call] } : { content: DONE };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return stream([
    chunk({ role: "assistant", ...said }, null),
    chunk({}, calls ? "tool_calls" : "stop"),
    { ...chunk({}, null), choices: [], usage },
  ], "data: [DONE]\n\n");
}

function contents(target: string, body: string, command: string): Response {
  const calls = body.includes("run_shell_command") && !body.includes("functionResponse");
  const part = calls
    ? { functionCall: { name: "run_shell_command", args: { command, description: "works" } } }
    : { text: DONE };
  const chunk = {
    candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  };
  return target.includes("stream") ? stream([chunk]) : Response.json(chunk);
}

/** Starts a provider that speaks every protocol; its model first runs `command`. */
export function startScripted(command: string): LoopbackProvider {
  return startProvider((target, body) => {
    if (target.startsWith("/v1/responses")) return responses(body, command);
    if (target.startsWith("/v1/messages/count_tokens")) return Response.json({ input_tokens: 10 });
    if (target.startsWith("/v1/messages")) return messages(body, command);
    if (target.startsWith("/v1/chat/completions")) return completions(body, command);
    if (target.includes(":countTokens")) return Response.json({ totalTokens: 10 });
    if (target.includes("enerateContent")) return contents(target, body, command);
    return Response.json({ data: [] });
  });
}
