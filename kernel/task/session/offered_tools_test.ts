import assert from "node:assert/strict";
import type { GrantedCall, PowerResult } from "../../../contracts/task/mod.ts";
import {
  type PermissionMode,
  ToolDescriptor,
  type ToolSnapshot,
} from "../../../contracts/tool/mod.ts";
import { GRANTED_PROGRAMS } from "../../../contracts/tool/command.ts";
import { WORKSPACE_TOOLS } from "../../../workspace/mod.ts";
import { TOOL_SEARCH } from "./tool_search.ts";
import { estimateToolTokens } from "../../../contracts/model/tokens.ts";
import {
  makeOfferTools,
  needsDescribing,
  TOOL_DESCRIBE,
  toolDescribeBinding,
} from "./offered_tools.ts";

const tool = (name: string, size = 400, permission: PermissionMode = "auto"): ToolDescriptor =>
  ToolDescriptor.parse({
    name,
    description: "x".repeat(size),
    interfaceId: "test",
    methodName: name,
    paramSchema: '{"type":"object"}',
    permission,
    category: "read",
  });
const snapshot = (...tools: readonly ToolDescriptor[]): ToolSnapshot => ({
  id: "0".repeat(64) as ToolSnapshot["id"],
  tools,
});
const NONE: ReadonlySet<string> = new Set();
const namesOf = (tools: readonly ToolDescriptor[]): string[] => tools.map(({ name }) => name);

Deno.test("a window that holds the whole table is offered the whole table, unchanged", () => {
  const all = snapshot(tool("alpha"), tool("beta"));
  const { tools, left } = makeOfferTools()(all, 100_000);
  assert.deepEqual(tools, all.tools);
  assert.equal(left, 0);
});

const seldom = (name: string, size?: number): ToolDescriptor => ({
  ...tool(name, size),
  interfaceId: "json@1.0.0 sha256:0",
});

Deno.test("a model is told of the usual tools and of what its task was handed; of the others once it found or called them", () => {
  const handed = { ...tool("mcp_bank_pay"), interfaceId: "mcp:bank" };
  const all = snapshot(
    ...[
      tool("file_read"),
      seldom("json_select", 4_000),
      tool("wiki_search", 2_000),
      handed,
      TOOL_SEARCH,
    ],
  );
  const offer = makeOfferTools();
  assert.deepEqual(
    namesOf(offer(all, 100_000).tools),
    ["file_read", "wiki_search", "mcp_bank_pay", "tool_search"],
  );
  const found = offer(all, 100_000, new Set(["json_select"]));
  assert.equal(found.left, 0);
  assert.ok(namesOf(found.tools).includes("tool_search"), "the table's beginning stays as it is");
  const told = (names: "all" | string[]): string[] =>
    namesOf(makeOfferTools({ names })(all, 100_000).tools);
  assert.ok(told(["json_select"]).includes("json_select"));
  assert.deepEqual(told("all"), ["file_read", "json_select", "wiki_search", "mcp_bank_pay"]);
});

Deno.test("programs of this machine that were granted are told of at once, those of the sandbox are not", () => {
  const sandbox = { ...seldom("command", 4_000), interfaceId: "coreutils@1.0.0 sha256:0" };
  const granted = {
    ...sandbox,
    description: `${sandbox.description.slice(100)} ${GRANTED_PROGRAMS}: git.`,
  };
  const told = (command: ToolDescriptor): string[] =>
    namesOf(makeOfferTools()(snapshot(command, seldom("exec", 4_000), TOOL_SEARCH), 100_000).tools);
  assert.deepEqual(told(sandbox), ["tool_search"]);
  assert.deepEqual(told(granted), ["command", "tool_search"]);
});

Deno.test("bounds that the gate holds are no words of a model's; a stranger's schema stays as it was reviewed", () => {
  const paramSchema = JSON.stringify({
    type: "object",
    properties: {
      path: { type: "string", minLength: 1, maxLength: 1_024, description: "File." },
      maxLength: { type: "integer", minimum: 1, maximum: 16 },
      base: { type: "string" },
    },
    required: ["path"],
  });
  const own = { ...tool("file_read"), description: "Reads. All of it.", paramSchema };
  const theirs = { ...own, name: tool("mcp_x_y").name, interfaceId: "mcp:x" };
  const { tools: [told, imported] } = makeOfferTools()(
    snapshot(own, theirs),
    100_000,
    NONE,
    "openai",
  );
  assert.deepEqual(JSON.parse(told?.paramSchema ?? "").properties, {
    path: { type: "string", description: "File." },
    maxLength: { type: "integer", maximum: 16 },
    base: { type: "string" },
  });
  assert.equal(imported, theirs);
  const [local] = makeOfferTools()(snapshot(own, theirs), 100_000, NONE, "wllama").tools;
  assert.equal(local, own, "a grammar holds the bounds");
  const { tools: [brief] } = makeOfferTools()(snapshot(own), 8_192);
  assert.equal(brief?.description, "Reads.");
  assert.deepEqual(Object.keys(JSON.parse(brief?.paramSchema ?? "").properties), [
    "path",
    "maxLength",
  ]);
});

Deno.test("of all tools over files a small window is told eight at most, in 680 tokens", () => {
  const all = snapshot(
    ...WORKSPACE_TOOLS.map(({ descriptor }) => descriptor),
    TOOL_SEARCH,
    seldom("exec", 4_000),
  );
  const { tools } = makeOfferTools()(all, 8_192);
  assert.ok(estimateToolTokens(tools) <= 680, String(estimateToolTokens(tools)));
  assert.deepEqual(namesOf(tools).sort(), [
    ...["file_edit", "file_list", "file_read", "file_search", "file_write"],
    ...["patch_apply", "tool_search"],
  ]);
});

Deno.test("a model that proposes programs is not told of what runs them", () => {
  const all = snapshot(
    { ...tool("evaluate"), interfaceId: "Mail" },
    tool("exec"),
    tool("file_read"),
    tool("proposal_run"),
    tool("settlements"),
  );
  const { tools } = makeOfferTools()(all, 100_000);
  assert.deepEqual(namesOf(tools), ["evaluate", "file_read"]);
});

Deno.test("a small window is offered what reads and writes first, in the table's order", () => {
  const all = snapshot(
    tool("alpha"),
    tool("exec", 4_000),
    tool("file_list"),
    tool("file_read"),
    tool("http_fetch", 400, "forbidden"),
    tool("zeta"),
  );
  const offer = makeOfferTools();
  const { tools, left } = offer(all, 1_500);
  assert.deepEqual(namesOf(tools), ["alpha", "file_list", "file_read", "zeta"]);
  assert.equal(left, 2);
  assert.deepEqual(namesOf(offer(all, 800).tools), ["file_list", "file_read"]);
});

Deno.test("the table never takes more than its share of the window", () => {
  const all = snapshot(...Array.from({ length: 40 }, (_, n) => tool(`tool_${n}`, 100 + 37 * n)));
  const offer = makeOfferTools();
  for (let window = 64; window < 40_000; window *= 2) {
    const { tools, left } = offer(all, window);
    assert.ok(estimateToolTokens(tools) <= Math.max(window * 0.3, 0), String(window));
    assert.equal(tools.length + left, 40);
  }
});

Deno.test("a model whose provider takes a tool only cut is told of what tells the rest; another is not", () => {
  const all = snapshot(TOOL_DESCRIBE, tool("alpha", 3_000), tool("beta"));
  const offer = makeOfferTools();
  const to = (backend: string): string[] => namesOf(offer(all, 100_000, new Set(), backend).tools);
  assert.deepEqual(to("openai"), ["tool_describe", "alpha", "beta"]);
  assert.deepEqual(to("anthropic"), ["alpha", "beta"]);
  assert.ok(needsDescribing(all.tools));
  assert.ok(!needsDescribing([tool("beta")]));
});

Deno.test("no provider is offered more tools than it takes, and what reads comes before the rest", () => {
  const all = snapshot(
    ...Array.from({ length: 140 }, (_, n) => tool(`tool_${n}`, 10)),
    tool("file_read"),
  );
  const { tools, left } = makeOfferTools()(all, 10_000_000, new Set(), "openai");
  assert.equal(tools.length, 128);
  assert.equal(left, 13);
  assert.ok(namesOf(tools).includes("file_read"));
});

Deno.test("tool_describe tells all of a tool that its caller has, an imported one as strangers' words", async () => {
  const imported = { ...tool("mcp_bank_pay", 3_000), interfaceId: "mcp:bank" };
  const tools = [TOOL_DESCRIBE, tool("exec", 3_000), imported];
  const binding = toolDescribeBinding({
    redeem: () => undefined,
    processOf: (pid) => pid === 2 ? { snapshot: snapshot(...tools) } : undefined,
  });
  const described = (name: string, pid = 2): Promise<PowerResult> =>
    // TRUST: what of a granted call the binding reads.
    binding.invoke(
      { pid, args: { name } } as unknown as GrantedCall,
      {
        signal: new AbortController().signal,
      } as unknown as Parameters<typeof binding.invoke>[1],
    );
  const own = await described("exec");
  assert.equal(own.colour, "BLUE");
  assert.equal(JSON.parse(own.content).description.length, 3_000);
  assert.equal((await described("mcp_bank_pay")).colour, "RED");
  await assert.rejects(described("mcp_bank_steal"), /you have none of this name/);
  await assert.rejects(described("exec", 3), /you have none of this name/);
});
