import assert from "node:assert/strict";
import type { ChatMessage } from "../../../contracts/model/chat.ts";
import { CallId } from "../../../contracts/authority/ids.ts";
import { hear, provenance, requestOf, said, tool } from "../../_fixture/asking.ts";
import {
  type Answer,
  ANTHROPIC_KEY,
  OPENAI_KEY,
  serveAnthropic,
  serveOpenai,
} from "../../_fixture/providers/mod.ts";
import { openBody, quickPowers } from "../_fixture/bench.ts";
import { openAnthropic } from "./open.ts";
import { openOpenai } from "../openai/open.ts";
import { fieldsOf, listOf } from "../wire_json.ts";

/** One step of a tool loop: calls, each with its result. */
function step(...ids: readonly string[]): ChatMessage[] {
  return [
    {
      role: "assistant",
      content: "",
      toolCalls: ids.map((id) => ({ id: CallId.parse(id), name: "file_read", arguments: "{}" })),
      provenance,
    },
    ...ids.map((id): ChatMessage => ({
      role: "tool",
      content: `ok: ${id}`,
      toolCallId: CallId.parse(id),
      toolName: "file_read",
      provenance,
    })),
  ];
}

/** Where marks stand in the body of a request: `system`, and `MESSAGE.BLOCK`. */
function marksOf(body: string): string[] {
  const fields = fieldsOf(JSON.parse(body));
  const marked = (blocks: unknown, name: (at: number) => string): string[] =>
    listOf(blocks).flatMap((block, at) =>
      fieldsOf(block)["cache_control"] === undefined ? [] : [name(at)]
    );
  return [
    ...marked(fields["system"], () => "system"),
    ...marked(fields["tools"], (at) => `tool ${at}`),
    ...listOf(fields["messages"]).flatMap((message, n) =>
      marked(fieldsOf(message)["content"], (at) => `${n}.${at}`)
    ),
  ];
}

async function marksFor(
  messages: readonly ChatMessage[],
  tools = [tool("file_read")],
): Promise<string[]> {
  await using server = serveAnthropic({ answers: [{ text: ["Done."] }] });
  const open = openBody("anthropic", server.url, { key: ANTHROPIC_KEY });
  const model = await openAnthropic(open, quickPowers());
  await hear(model, requestOf(messages, { tools }));
  return marksOf(server.received[0]?.body ?? "{}");
}

const system: ChatMessage = { role: "system", content: "Be brief.", provenance };

Deno.test("a tool loop asks Anthropic to keep instructions and tools, and the conversation up to its end and the one before", async () => {
  assert.deepEqual(await marksFor([system, said("Read.")]), ["system", "0.0"]);
  const once = [system, said("Read."), ...step("a", "b")];
  assert.deepEqual(await marksFor(once), ["system", "0.0", "2.1"]);
  // What was the end is still marked: its next request finds it, however many calls lie between.
  assert.deepEqual(await marksFor([...once, ...step("c")]), ["system", "2.1", "4.0"]);
  assert.deepEqual(await marksFor([...once, said("And now?")]), ["system", "0.0", "2.2"]);
});

Deno.test("what is asked once is not kept: keeping costs more than reading", async () => {
  assert.deepEqual(await marksFor([system, said("Summarize.")], []), []);
});

Deno.test("what a prompt cache gave and took is told apart, as part of the input", async () => {
  const usage = { input: 900, output: 7, cacheRead: 600, cacheWrite: 200 };
  const answers: Answer[] = [{ text: ["Hi"], usage }, { text: ["Hi"] }];
  await using claude = serveAnthropic({ answers });
  const anthropic = await openAnthropic(
    openBody("anthropic", claude.url, { key: ANTHROPIC_KEY }),
    quickPowers(),
  );
  const first = await hear(anthropic, requestOf([said("Hello.")]));
  assert.deepEqual(first.response.usage, {
    inputTokens: 900,
    outputTokens: 7,
    cacheReadTokens: 600,
    cacheWriteTokens: 200,
  });
  const second = await hear(anthropic, requestOf([said("Hello.")]));
  assert.deepEqual(second.response.usage, { inputTokens: 11, outputTokens: 7 });

  await using gpt = serveOpenai({ answers });
  const openai = await openOpenai(
    openBody("openai", gpt.url, { key: OPENAI_KEY }),
    quickPowers(),
  );
  const third = await hear(openai, requestOf([said("Hello.")]));
  assert.deepEqual(third.response.usage, {
    inputTokens: 900,
    outputTokens: 7,
    cacheReadTokens: 600,
  });
});
