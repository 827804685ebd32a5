// Stands for goose, which no registry has: started as `goose acp`, configured by the same variables, it asks its provider
// for streamed chat completions, with goose's tool for a shell. Runs under Deno within the walls.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";

const send = (message) => fs.writeSync(1, `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const update = (sessionId, each) =>
  send({ method: "session/update", params: { sessionId, update: each } });
const { GOOSE_PROVIDER, GOOSE_MODEL, GOOSE_MODE, OPENAI_HOST, OPENAI_API_KEY } = process.env;
if (process.argv[2] !== "acp" || GOOSE_PROVIDER !== "openai" || GOOSE_MODE !== "auto") {
  throw new Error(`goose: ${process.argv.slice(2)} ${GOOSE_PROVIDER} ${GOOSE_MODE}`);
}
const TOOLS = [{
  type: "function",
  function: {
    name: "developer__shell",
    description: "Runs a command in a shell.",
    parameters: { type: "object", properties: { command: { type: "string" } } },
  },
}];

/** One streamed completion: its text, and its first call. */
async function complete(messages) {
  const response = await fetch(`${OPENAI_HOST}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${OPENAI_API_KEY}` },
    body: JSON.stringify({
      ...{ model: GOOSE_MODEL, messages, tools: TOOLS, stream: true },
      stream_options: { include_usage: true },
    }),
  });
  if (!response.ok) throw new Error(`Request failed: ${await response.text()}`);
  const chunks = (await response.text()).split("\n")
    .filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6)));
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  return {
    text: deltas.map(({ content = "" }) => content).join(""),
    call: deltas.flatMap(({ tool_calls = [] }) => tool_calls)[0],
  };
}

async function work(id, { sessionId, prompt }) {
  const messages = [{ role: "user", content: prompt.map(({ text = "" }) => text).join("") }];
  for (;;) {
    const { text, call } = await complete(messages);
    if (call === undefined) {
      update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
      return send({ id, result: { stopReason: "end_turn" } });
    }
    const { command } = JSON.parse(call.function.arguments);
    const told = { toolCallId: call.id, title: "developer__shell", rawInput: { command } };
    update(sessionId, { sessionUpdate: "tool_call", status: "pending", kind: "execute", ...told });
    let content;
    try {
      content = execFileSync("/bin/sh", ["-c", command], { encoding: "utf8" });
    } catch (error) {
      content = String(error.stderr ?? error.message);
    }
    update(sessionId, { sessionUpdate: "tool_call_update", status: "completed", ...told });
    messages.push(
      { role: "assistant", tool_calls: [call] },
      { role: "tool", tool_call_id: call.id, content },
    );
  }
}

let rest = "";
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const { id, method, params } of lines.map((line) => JSON.parse(line))) {
    if (method === "initialize") {
      send({ id, result: { protocolVersion: 1, agentCapabilities: { loadSession: true } } });
    } else if (method === "session/new") send({ id, result: { sessionId: "20261128_1" } });
    else if (method === "session/prompt") void work(id, params);
    else if (id !== undefined) send({ id, error: { code: -32601, message: "Method not found" } });
  }
});
