import assert from "node:assert/strict";
import { Fault } from "../../../../contracts/base/fault.ts";
import type { Json, JsonObject } from "../../../../contracts/base/json.ts";
import { ServerListing } from "../../../../contracts/exchange/mcp.ts";
import { MAX_PAGES } from "../limits.ts";
import { type Introduction, readListing } from "./listing.ts";

const ABOUT: Introduction = {
  protocol: "2025-11-25",
  server: { name: "s", version: "1" },
  capabilities: ["tools", "resources", "prompts"],
};
const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  inputSchema: { type: "object" },
  ...more,
});

/** The words of a server with these pages of tools, each behind the cursor of its index. */
async function toolsOf(...pages: readonly Json[][]): Promise<ServerListing> {
  const words = await readListing({
    page(method, cursor) {
      if (method !== "tools/list") return Promise.resolve({});
      const index = Number(cursor ?? 0);
      const more = index + 1 < pages.length ? { nextCursor: String(index + 1) } : {};
      return Promise.resolve({ tools: pages[index] ?? [], ...more });
    },
  }, { ...ABOUT, capabilities: ["tools"] });
  return ServerListing.parse(words);
}

Deno.test("all pages are read, and what is not in the contract is left behind", async () => {
  const annotations = { readOnlyHint: true, title: null, secret: 1 };
  const words = await toolsOf([tool("a", { annotations, icons: [] })], [tool("b")], [tool("c")]);
  assert.deepEqual(words.tools.map(({ name }) => name), ["a", "b", "c"]);
  assert.deepEqual(words.tools[0]?.annotations, { readOnlyHint: true });
  assert.deepEqual(words.left, []);
});

Deno.test("mallory's tool that is malformed is left out by name, and the others stay", async () => {
  const bad: readonly Json[] = [
    5,
    { name: "no schema" },
    tool(""),
    tool("n".repeat(300)),
    tool("a", { description: "d".repeat(70_000) }),
    tool("a", { inputSchema: "object" }),
    tool("a", { inputSchema: { type: "object", description: "d".repeat(70_000) } }),
    tool("a", { annotations: { destructiveHint: "no" } }),
    tool("a", { outputSchema: [] }),
  ];
  for (const item of bad) {
    const words = await toolsOf([tool("kept"), item, tool("kept too")]);
    assert.equal(words.tools.length, 2, JSON.stringify(item).slice(0, 80));
    assert.equal(words.left.length, 1);
    assert.ok((words.left[0]?.length ?? 0) <= 512);
  }
});

Deno.test("mallory's thousand tools are cut to 512, her endless pages to 64", async () => {
  const many = await toolsOf(Array.from({ length: 1_000 }, (_, index) => tool(`t${index}`)));
  assert.equal(many.tools.length, 512);
  assert.match(many.left.join(), /More than 512 tools/);
  const endless = await toolsOf(...Array.from({ length: 100 }, (_, index) => [tool(`t${index}`)]));
  assert.equal(endless.tools.length, MAX_PAGES);
  assert.match(endless.left.join(), /More than 64 pages/);
});

Deno.test("everything together has room of eight million units", async () => {
  const big = tool("big", { description: "d".repeat(60_000) });
  const words = await toolsOf(Array(200).fill(big));
  assert.ok(words.tools.length > 100 && words.tools.length < 140);
  assert.match(words.left.join(), /no room/);
  assert.equal(words.left.length, 64);
});

Deno.test("a list that fails is left out with the reason, and the others are read", async () => {
  const words = await readListing({
    page(method) {
      if (method === "tools/list") throw new Fault("upstream", "Cannot list: it broke");
      if (method === "prompts/list") {
        return Promise.resolve({
          prompts: [{ name: "p", arguments: [{ name: "a", required: true }] }, {
            name: "q",
            arguments: ["x"],
          }],
        });
      }
      if (method === "resources/list") {
        return Promise.resolve({ resources: [{ uri: "a:b", name: "r" }, { name: "no address" }] });
      }
      return Promise.resolve({ resourceTemplates: "none" });
    },
  }, ABOUT);
  assert.deepEqual(ServerListing.parse(words).tools, []);
  assert.equal(words.resources.length, 1);
  assert.equal(words.prompts.length, 1);
  assert.match(
    words.left.join("\n"),
    /it broke[^]*resource "no address": uri is missing[^]*templates holds no list[^]*prompt "q"/,
  );
});
