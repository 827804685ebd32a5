import assert from "node:assert/strict";
import { faultOf, hear, requestOf, said, tool } from "../../_fixture/contract_suite.ts";
import { serveHostile } from "../../_fixture/providers/mod.ts";
import { openBody, quickPowers } from "../_fixture/bench.ts";
import { openAnthropic } from "../anthropic/open.ts";
import { openOpenai } from "../openai/open.ts";

const ask = requestOf([said("Hello.")], { tools: [tool("file_read")] });

/** A server that answers with one text of this type, and a model of it. */
function answering(kind: "anthropic" | "openai", type: string, text: string) {
  const server = serveHostile(kind, () => [text], { headers: { "content-type": type } });
  const open = kind === "anthropic" ? openAnthropic : openOpenai;
  return {
    hear: async () => await hear(await open(openBody(kind, server.url), quickPowers()), ask),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

Deno.test("a server that says its message whole instead of streaming it is understood", async () => {
  const call = {
    id: "c1",
    type: "function",
    function: { name: "file_read", arguments: '{"a":1}' },
  };
  await using server = answering(
    "openai",
    "application/json; charset=utf-8",
    JSON.stringify(
      {
        object: "chat.completion",
        choices: [{
          index: 0,
          message: {
            role: "assistant",
            content: "I look.",
            tool_calls: [call, { ...call, id: "c2" }],
          },
          finish_reason: "tool_calls",
        }],
        usage: { prompt_tokens: 11, completion_tokens: 7 },
      },
      null,
      2,
    ),
  );
  const { response, text } = await server.hear();
  assert.equal(text, "I look.");
  assert.deepEqual(
    response.message.toolCalls?.map(({ id, name, arguments: args }) => [id, name, args]),
    [["c1", "file_read", '{"a":1}'], ["c2", "file_read", '{"a":1}']],
  );
  assert.deepEqual(response.usage, { inputTokens: 11, outputTokens: 7 });
});

Deno.test("an error that comes with status 200 is what it says", async () => {
  for (
    const [kind, body] of [
      ["openai", { error: { message: "Slow down", code: 429 } }],
      ["anthropic", { type: "error", error: { type: "rate_limit_error", message: "Slow down" } }],
    ] as const
  ) {
    await using server = answering(kind, "application/json", JSON.stringify(body, null, 2));
    const fault = await faultOf(server.hear());
    assert.equal(fault.code, "rateLimited");
    assert.match(fault.message, /: Slow down$/);
  }
});

Deno.test("what is no stream of the protocol is told from one that broke off, with what to look at", async () => {
  for (const kind of ["anthropic", "openai"] as const) {
    await using page = answering(kind, "text/html; charset=utf-8", "<html>Log in, please</html>");
    const { code, message } = await faultOf(page.hear());
    assert.equal(code, "upstream");
    assert.match(
      message,
      /answers with text\/html and no event of its protocol; look at the model's/,
    );
    await using json = answering(kind, "application/json", "<html>");
    assert.match((await faultOf(json.hear())).message, /sends what is not its protocol/);
    await using empty = answering(kind, "text/event-stream", "");
    assert.match((await faultOf(empty.hear())).message, /no event of its protocol/);
  }
});
