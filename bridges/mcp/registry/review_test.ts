import assert from "node:assert/strict";
import { Millis } from "../../../contracts/authority/mod.ts";
import { NO_GRANTS, ServerListing } from "../../../contracts/exchange/mod.ts";
import { reviewRows, toolDigest, translate } from "../review/mod.ts";
import { approve, FLAGGED, type McpReview, type StandingRow } from "./review.ts";
import { LockedServer, parseMcpName } from "./lock.ts";

const tool = (name: string, description: string) => ({
  ...{ name, description, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
});
const PLAIN = [tool("list", "Lists notes."), tool("read", "Reads a note.")];
const HIDDEN = tool("sly", "Reads a note.\u{e0041}\u{e0042}");
const AT = { tools: undefined, flagged: false, at: 5, by: "alice" };

function server(more: Partial<LockedServer> = {}): LockedServer {
  return LockedServer.parse({
    ...{ name: "notes", launch: { kind: "http", url: "https://a.test/mcp" }, grants: NO_GRANTS },
    ...{ env: {}, secretEnv: [], secretHeaders: [], offers: { resources: false, prompts: false } },
    ...{ samplingTokens: 0, elicitation: true, clearance: "public", state: "added", addedAt: 1 },
    ...{ from: { kind: "url", text: "x" }, packages: [], reviewed: [], notes: [] },
    ...more,
  });
}

function review(
  of: LockedServer,
  tools: readonly ReturnType<typeof tool>[],
  more: object = {},
): McpReview {
  const words = ServerListing.parse({
    ...{ protocol: "2025-11-25", server: { name: "n", version: "1" }, capabilities: ["tools"] },
    ...{ tools, resources: [], templates: [], prompts: [], left: [], ...more },
  });
  const translation = translate(parseMcpName("notes"), words.tools, {
    grants: of.grants,
    launch: of.launch,
  });
  const pinned = new Map(of.reviewed.map((each) => [each.words.name, each.tool.digest]));
  const digests = new Map(words.tools.map((each) => [each.name, toolDigest(each)]));
  const rows = reviewRows(translation, []).map((row): StandingRow => ({
    ...row,
    stands: !pinned.has(row.tool)
      ? "new"
      : pinned.get(row.tool) === digests.get(row.tool)
      ? "pinned"
      : "changed",
  }));
  return { server: of, words, translation, rows, changes: [], gone: [], flags: [] };
}

const names = (of: LockedServer): string[] => of.reviewed.map((each) => each.words.name).sort();

Deno.test("what is not flagged is pinned as it was said, and what is flagged is left with the reason", () => {
  const { server: after, approved, left } = approve(
    review(server(), [...PLAIN, HIDDEN]),
    AT,
  );
  assert.deepEqual(approved, ["list", "read"]);
  assert.deepEqual(left.map(({ tool }) => tool), ["sly"]);
  assert.equal(left[0]?.why, FLAGGED);
  assert.equal(after.state, "approved");
  assert.deepEqual(after.reviewed.map(({ at, by, off }) => [at, by, off]), [[5, "alice", false], [
    5,
    "alice",
    false,
  ]]);
  assert.deepEqual(after.reviewed.map(({ words, tool }) => toolDigest(words) === tool.digest), [
    true,
    true,
  ]);
  assert.deepEqual(LockedServer.parse(after), after);
});

Deno.test("a flagged tool is pinned where a person says so, and alone where they name it", () => {
  const all = review(server(), [...PLAIN, HIDDEN]);
  assert.deepEqual(approve(all, { ...AT, flagged: true }).approved, [
    "list",
    "read",
    "sly",
  ]);
  const one = approve(all, { ...AT, flagged: true, tools: ["sly"] });
  assert.deepEqual(one.approved, ["sly"]);
  assert.deepEqual(one.left, []);
  assert.deepEqual(approve(all, { ...AT, tools: ["sly"] }).approved, []);
});

Deno.test("a server of which nothing could be pinned is not approved", () => {
  assert.equal(approve(review(server(), [HIDDEN]), AT).server.state, "added");
  assert.equal(approve(review(server(), []), AT).server.state, "approved");
});

Deno.test("a changed tool stays as it was pinned unless it is approved, a missing one goes, switches stay", () => {
  const first = approve(review(server(), PLAIN), AT).server;
  const off = {
    ...first,
    reviewed: first.reviewed.map((each) => ({ ...each, off: each.words.name === "read" })),
  };
  const changed = [
    tool("read", "Reads a note, and sends it on.\u{200b}"),
    tool("new", "Does more."),
  ];
  const again = approve(review(off, changed), { ...AT, at: Millis.parse(9) });
  assert.deepEqual(names(again.server), ["new", "read"]);
  const kept = again.server.reviewed.find((each) => each.words.name === "read");
  assert.equal(kept?.words.description, "Reads a note.");
  assert.equal(kept?.off, true);
  const taken = approve(review(off, changed), { ...AT, flagged: true });
  const read = taken.server.reviewed.find((each) => each.words.name === "read");
  assert.match(read?.words.description ?? "", /sends it on/);
  assert.equal(read?.off, true);
});

Deno.test("resources and prompts are offered with a whole approval, and not where they are flagged", () => {
  const more = {
    resources: [{ uri: "a://b", name: "b" }],
    prompts: [{ name: "p", arguments: [] }],
  };
  const plain = review(server(), PLAIN, more);
  const both = { resources: true, prompts: true };
  assert.deepEqual(approve(plain, AT).server.offers, both);
  assert.equal(approve(plain, AT).withheld, false);
  const flagged: McpReview = { ...plain, flags: [{ what: "orders", where: "prompt", shown: "x" }] };
  assert.equal(approve(flagged, AT).withheld, true);
  assert.deepEqual(approve(flagged, AT).server.offers, { resources: false, prompts: false });
  assert.deepEqual(
    approve(flagged, { ...AT, flagged: true }).server.offers,
    both,
  );
  assert.deepEqual(approve(plain, { ...AT, tools: ["list"] }).server.offers, {
    ...{ resources: false, prompts: false },
  });
});
