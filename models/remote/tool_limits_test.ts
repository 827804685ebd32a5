/** Every tool of Remit, and the worst of imported ones, sent to servers that are as strict as the services. */
import assert from "node:assert/strict";
import { ToolName } from "../../contracts/authority/ids.ts";
import type { ToolDescriptor } from "../../contracts/tool/tool.ts";
import { DESCRIBE_TOOL, fitsLimits, toolLimits } from "../../contracts/tool/tool_limits.ts";
import { hear, requestOf, said, tool } from "../_fixture/asking.ts";
import {
  ANTHROPIC_KEY,
  OPENAI_KEY,
  serveAnthropic,
  serveOllama,
  serveOpenai,
} from "../_fixture/providers/mod.ts";
import { ownTools } from "../grammar/_fixture/own_tools.ts";
import { openAnthropic } from "./anthropic/open.ts";
import { openOllama } from "./ollama/open.ts";
import { openOpenai } from "./openai/open.ts";
import { benchPowers } from "./ollama/_fixture/bench.ts";
import { openBody, quickPowers } from "./_fixture/bench.ts";

const KINDS = [
  { kind: "openai", serve: serveOpenai, open: openOpenai, key: OPENAI_KEY },
  { kind: "anthropic", serve: serveAnthropic, open: openAnthropic, key: ANTHROPIC_KEY },
  { kind: "ollama", serve: serveOllama, open: openOllama, key: "none" },
] as const;

const imported = (name: string, more: Partial<ToolDescriptor>): ToolDescriptor => ({
  ...tool(name),
  interfaceId: "mcp:bank",
  ...more,
});
const rooted = {
  type: "object",
  anyOf: [
    { required: ["id"], properties: { id: { type: "string" } } },
    { required: ["name"], properties: { name: { type: "string" } } },
  ],
};
const deep = (levels: number): object =>
  levels === 0 ? { type: "string" } : { type: "object", properties: { in: deep(levels - 1) } };

/** What servers of strangers list, and a service would refuse a whole request for. */
const STRANGE: readonly ToolDescriptor[] = [
  imported("mcp_bank_long", { description: "What it does, at length. ".repeat(150) }),
  imported("mcp_bank_rooted", { paramSchema: JSON.stringify(rooted) }),
  imported("mcp_bank_untyped", { paramSchema: "{}" }),
  imported("mcp_bank_deep", { paramSchema: JSON.stringify(deep(20)) }),
  imported("mcp_bank_list", {
    paramSchema: '{"type":"object","properties":{"ids":{"type":"array"}}}',
  }),
  imported("mcp_bank_filter", {
    paramSchema:
      '{"type":"object","properties":{"$filter":{"type":"string"}},"required":["$filter"],' +
      '"additionalProperties":false}',
  }),
];
const describe = tool(DESCRIBE_TOOL);

for (const { kind, serve, open, key } of KINDS) {
  Deno.test(`${kind} takes every built-in tool as it is, and every imported one once it is fitted`, async () => {
    const own = ownTools();
    for (const each of own) {
      const words = { description: each.description, schema: JSON.parse(each.paramSchema) };
      assert.ok(fitsLimits(words, toolLimits(kind)), `${each.name} is too long for ${kind}`);
    }
    await using server = serve({ answers: [{ text: ["ok"] }] });
    const powers = kind === "ollama" ? benchPowers() : quickPowers();
    const body = openBody(kind, server.url, { key, contextTokens: 200_000 });
    const model = await open(body, powers);
    const tools = [...own, ...STRANGE, describe];
    await hear(model, requestOf([said("Hello.")], { tools }));
    assert.equal(server.asked.length, 1);
  });
}

Deno.test("what is cut of a description says where the rest is; a rule that is left out stands in words", async () => {
  await using server = serveOpenai({ answers: [{ text: ["ok"] }] });
  const model = await openOpenai(
    openBody("openai", server.url, { key: OPENAI_KEY }),
    quickPowers(),
  );
  await hear(model, requestOf([said("Hello.")], { tools: [...STRANGE, describe] }));
  const sent = server.asked[0]?.["tools"] as {
    function: { name: string; description: string; parameters: Record<string, unknown> };
  }[];
  const long = sent.find((each) => each.function.name === "mcp_bank_long")?.function;
  assert.match(
    long?.description ?? "",
    /length\. \[…\] All of it: tool_describe \{"name":"mcp_bank_long"\}\.$/,
  );
  assert.ok((long?.description.length ?? 0) <= 1_024);
  const rootedSent = sent.find((each) => each.function.name === "mcp_bank_rooted")?.function;
  assert.match(rootedSent?.description ?? "", /must also fit: anyOf \[\{"required":\["id"\]/);
  assert.deepEqual(Object.keys(rootedSent?.parameters["properties"] ?? {}), ["id", "name"]);
});

Deno.test("a request of more tools than a service takes leaves the last ones out", async () => {
  await using server = serveOpenai({ answers: [{ text: ["ok"] }] });
  const model = await openOpenai(
    openBody("openai", server.url, { key: OPENAI_KEY }),
    quickPowers(),
  );
  const tools = Array.from({ length: 140 }, (_, n) => tool(ToolName.parse(`tool_${n}`)));
  await hear(model, requestOf([said("Hello.")], { tools }));
  assert.equal((server.asked[0]?.["tools"] as unknown[]).length, 128);
});
