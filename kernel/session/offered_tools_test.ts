import assert from "node:assert/strict";
import { type PermissionMode, ToolDescriptor, type ToolSnapshot } from "../../contracts/mod.ts";
import { estimateToolTokens } from "../../contracts/tokens.ts";
import { makeOfferTools } from "./offered_tools.ts";

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
const namesOf = (tools: readonly ToolDescriptor[]): string[] => tools.map(({ name }) => name);

Deno.test("a window that holds the whole table is offered the whole table, unchanged", () => {
  const all = snapshot(tool("alpha"), tool("beta"));
  const { tools, left } = makeOfferTools()(all, 100_000);
  assert.equal(tools, all.tools);
  assert.equal(left, 0);
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
