/** Calls in a model's text on the way through a whole model, whatever its server takes them by. */
import assert from "node:assert/strict";
import { hear, requestOf, said, tool } from "../_fixture/asking.ts";
import { OPENAI_KEY, serveOpenai } from "../_fixture/providers/mod.ts";
import { openOpenai } from "./openai/open.ts";
import { openBody, quickPowers } from "./_fixture/bench.ts";
import type { Said } from "../_fixture/providers/mod.ts";
import type { Dialect } from "../../contracts/model/model_config.ts";

const tools = [tool("file_read")];

async function heard(answer: Said, dialect?: Dialect[]) {
  await using server = serveOpenai({ answers: [answer] });
  const config = { key: OPENAI_KEY, ...(dialect === undefined ? {} : { dialect }) };
  const model = await openOpenai(openBody("openai", server.url, config), quickPowers());
  return (await hear(model, requestOf([said("Read it.")], { tools }))).response;
}

const good = '<tool_call>\n{"name": "file_read", "arguments": {"path": "a"}}\n</tool_call>';
const bad = good.replace('"}}', '",}}');

Deno.test("a call in text that cannot be read is told, with and without a dialect", async () => {
  for (const dialect of [undefined, ["hermes" as const]]) {
    const { message, finishReason } = await heard({ text: [bad] }, dialect);
    assert.equal(finishReason, "toolCalls");
    const [call] = message.toolCalls ?? [];
    assert.equal(call?.name, "file_read");
    assert.equal(call?.unmade?.kind, "unreadable");
    assert.match(call?.unmade?.why ?? "", /^Cannot make this call: it cannot be read: /);
  }
});

Deno.test("a good call in the text of a server that takes calls by its API is not made, and told", async () => {
  const [call] = (await heard({ text: [good] })).message.toolCalls ?? [];
  assert.match(call?.unmade?.why ?? "", /takes calls by its API alone/);
  assert.equal(
    (await heard({ text: [good] }, ["hermes"])).message.toolCalls?.[0]?.unmade,
    undefined,
  );
});

Deno.test("a call that is quoted, and prose about the tag, are an answer", async () => {
  for (
    const text of [
      `Write \`${good.replaceAll("\n", "")}\` for it.`,
      `So:\n\`\`\`\n${good}\n\`\`\``,
      "The tag <tool_call> begins a call, <tool_call>name</tool_call> too.",
    ]
  ) {
    for (const dialect of [undefined, ["hermes" as const]]) {
      if (text.includes(">name<") && dialect !== undefined) continue;
      const { message, finishReason } = await heard({ text: [text] }, dialect);
      assert.equal(message.toolCalls, undefined, text);
      assert.equal(message.content, text);
      assert.equal(finishReason, "stop");
    }
  }
});

Deno.test("what a broken answer cost is told with the fault, and it is not tried again here after its words", async () => {
  await using server = serveOpenai({ answers: [{ text: ["Half of it"], cut: true }] });
  const model = await openOpenai(
    openBody("openai", server.url, { key: OPENAI_KEY }),
    quickPowers(),
  );
  await assert.rejects(hear(model, requestOf([said("Say it.")], { tools })), (error: unknown) => {
    const detail = Object(error).detail;
    assert.equal(detail.broke, true);
    assert.equal(detail.tried, undefined);
    assert.ok(detail.usage.inputTokens > 0 && detail.usage.outputTokens > 0);
    return true;
  });
  assert.equal(server.asked.length, 1);
});

Deno.test("the words of a refusal come with it", async () => {
  const answer = await heard({ text: ["I will not do this."], stop: "contentFilter" });
  assert.equal(answer.finishReason, "contentFilter");
  assert.equal(answer.message.content, "I will not do this.");
});

Deno.test("an engine that is loading its model is asked again until it is there", async () => {
  const loading = {
    status: 503,
    body: { error: { code: 503, message: "Loading model", type: "unavailable_error" } },
  };
  const answers = [...new Array(20).fill(loading), { text: ["Here I am."] }];
  await using server = serveOpenai({ answers });
  const powers = quickPowers();
  const model = await openOpenai(openBody("openai", server.url, { key: OPENAI_KEY }), powers);
  assert.equal((await hear(model, requestOf([said("Hello.")]))).text, "Here I am.");
  assert.equal(powers.waits.filter((ms) => ms === 2_000).length, 20);
});
