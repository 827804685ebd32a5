import assert from "node:assert/strict";
import { TaskId } from "../../../contracts/authority/mod.ts";
import { toJson } from "../../../contracts/base/mod.ts";
import { type ImportedServer, McpServerName } from "../../../contracts/exchange/mod.ts";
import { changesOf, toolDigest } from "../../../bridges/mcp/review/mod.ts";
import { makeMcpStanding } from "../mcp/standing.ts";

const task = TaskId.parse("t000000000000");
const words = { name: "echo", description: "Says it again.", inputSchema: { type: "object" } };
const facts = {
  card: "https://desk.example.org/.well-known/agent-card.json",
  endpoint: "https://desk.example.org/a2a",
  ...{ binding: "JSONRPC" as const, keys: ["k1", "k2"] },
};

function standingOf(keys: readonly string[] = facts.keys) {
  const suspended: string[] = [];
  const { card: url, endpoint, binding } = facts;
  const server = {
    name: McpServerName.parse("desk"),
    launch: { kind: "http", url, a2a: { endpoint, binding, keys: [...keys] } },
    tools: ["echo", "other"].map((tool) => ({
      tool,
      digest: toolDigest({ ...words, name: tool }),
    })),
  } as unknown as ImportedServer;
  const standing = makeMcpStanding({ task, server }, {
    changes: changesOf,
    log: { note: (_at, what, body) => void suspended.push(`${what} ${body?.["tool"]}`) },
  });
  const check = (peer: unknown): string | undefined => {
    const tools = [words, { ...words, name: "other" }];
    standing.check(toJson({ tools, peer }) as unknown as Parameters<typeof standing.check>[0]);
    return standing.whyNothing();
  };
  return { standing, suspended, check };
}

Deno.test("a peer whose card is as it was pinned stands, also when one of its keys went", () => {
  for (const keys of [facts.keys, ["k2"], ["k2", "k3"]]) {
    const { check, standing } = standingOf();
    assert.equal(check({ ...facts, keys }), undefined);
    assert.equal(standing.why({ tool: "echo" }), undefined);
  }
  // What nobody signed is as good as its origin: that somebody signs it now takes nothing away.
  assert.equal(standingOf([]).check(facts), undefined);
});

Deno.test("mallory swaps a card: everything of the peer is suspended, and stays so when the old card is back", () => {
  const swaps: readonly (readonly [unknown, RegExp])[] = [
    [{ ...facts, endpoint: "https://desk.example.org/other" }, /listens elsewhere/],
    [{ ...facts, binding: "HTTP+JSON" }, /listens elsewhere/],
    [{ ...facts, keys: [] }, /whoever signed it then does not now/],
    [{ ...facts, keys: ["k9"] }, /whoever signed it then does not now/],
    [undefined, /cannot be read/],
    [{ ...facts, endpoint: 5 }, /cannot be read/],
  ];
  for (const [swapped, why] of swaps) {
    const { check, standing, suspended } = standingOf();
    assert.equal(check(facts), undefined);
    assert.match(check(swapped) ?? "", why);
    assert.deepEqual(suspended, ["suspended echo", "suspended other"]);
    assert.match(check(facts) ?? "", why);
    assert.match(standing.why({ tool: "other" }) ?? "", why);
    assert.equal(suspended.length, 2);
  }
});
