/** Credentials that a call would tell somebody: asked about, told nowhere else, and handed to the call alone. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { CallId } from "../contracts/authority/mod.ts";
import type { JsonObject } from "../contracts/base/mod.ts";
import type { ChatMessage } from "../contracts/model/mod.ts";
import { makeWorld, type World, type WorldOptions } from "./_fixture/world.ts";

const KEY = `npm_${"a1B2c3D4e5F6".repeat(3)}`;
const TOOL = "mcp_pages_search";

/** A world with a tool of an imported server that only reads, and what its calls were handed. */
async function world(
  options: WorldOptions = {},
): Promise<World & { readonly sent: JsonObject[] }> {
  const made = await makeWorld(options), sent: JsonObject[] = [];
  made.add({
    ...{ name: TOOL, effect: "read" },
    resolve: (args) => ({ summary: `Searches with ${args["api_key"]}.`, destination: "mcp:pages" }),
    invoke: ({ args }) => {
      sent.push(args);
      const record = { url: `https://a.example/?k=${args["api_key"]}` };
      return Promise.resolve({ content: `you sent ${JSON.stringify(args)}`, record });
    },
  });
  made.add({
    name: "file_read",
    effect: "read",
    invoke: () => Promise.resolve({ content: `//registry/:_authToken=${KEY}` }),
  });
  return Object.assign(made, { sent });
}

/** All that a world keeps: events with their private parts, and documents. */
function kept(made: World): string {
  return JSON.stringify([made.log.events, [...made.log.documents.values()]]);
}

Deno.test("a key in a reading call of an imported server asks, goes through after a yes, and is nowhere in the log", async () => {
  const made = await world();
  equal((await made.call(TOOL, { query: "boats" })).outcome, "ok", "without a key nobody is asked");
  for (const [n, args] of [{ api_key: "hunter-2-x" }, { query: `use ${KEY} now` }].entries()) {
    const secret = n === 0 ? "hunter-2-x" : KEY;
    const calling = made.call(TOOL, args, { id: `call_${n}` });
    const question = await made.answer();
    equal(question.kind, "consent");
    match(question.rule, /credential/);
    equal(JSON.stringify(question).includes(secret), false);
    match(question.argumentsText, /⟨withheld: /);
    const result = await calling;
    equal(result.outcome, "ok", result.error);
    // The call alone had it, and what came back was without it.
    deepEqual(made.sent.at(-1), args);
    equal(result.content.includes(secret), false);
    equal(kept(made).includes(secret), false);
  }
});

Deno.test("a rule that lets a tool through does not let a credential through, and a no stays a no", async () => {
  const rules = [{ tool: TOOL, mode: "auto", at: "remit.yaml:1" }] as const;
  const made = await world({ policy: { rules } });
  const calling = made.call(TOOL, { password: "correct horse" });
  await made.answer({ decision: "deny" });
  equal((await calling).outcome, "deniedByUser");
  deepEqual(made.sent, []);
  equal(kept(made).includes("correct horse"), false);
  const queued = await world({ row: { onQuestion: "deny" } });
  equal((await queued.call(TOOL, { token: KEY })).outcome, "deniedByUser");
  equal(kept(queued).includes(KEY), false);
});

Deno.test("what was redacted before is known again in other words: encoded, in another argument, of another tool", async () => {
  const made = await world();
  const read = await made.call("file_read");
  equal(read.content.includes(KEY), false);
  const forms = [KEY, btoa(KEY).replace(/=+$/, ""), btoa(`${KEY}`), `x${KEY}y`];
  for (const [n, query] of forms.entries()) {
    const calling = made.call(TOOL, { query }, { id: `again_${n}` });
    await made.answer();
    equal((await calling).outcome, "ok");
    deepEqual(made.sent.at(-1), { query });
    equal(kept(made).includes(query), false, query);
  }
});

Deno.test("a message is kept with marks; a call by its marks goes through with the values", async () => {
  const made = await world();
  const said: ChatMessage = {
    ...{ role: "assistant", content: `I use ${KEY}.` },
    toolCalls: [
      { id: CallId.parse("c1"), name: TOOL, arguments: JSON.stringify({ api_key: KEY, n: 1 }) },
      { id: CallId.parse("c2"), name: "file_read", arguments: JSON.stringify({ path: "a.key" }) },
    ],
    provenance: { origin: "model", colour: "BLUE", label: "public" },
  };
  const hidden = made.gate.withhold(made.alice.pid, said);
  equal(JSON.stringify(hidden).includes(KEY), false);
  deepEqual(hidden.toolCalls?.[1], said.toolCalls?.[1], "what stays on the machine is left alone");
  const call = hidden.toolCalls?.[0] ?? { arguments: "" };
  const calling = made.call(TOOL, {}, { id: "c1", text: call.arguments });
  await made.answer();
  equal((await calling).outcome, "ok");
  deepEqual(made.sent, [{ api_key: KEY, n: 1 }]);
  // A kernel that came after knows no value: it says so, and sends no mark in its place.
  const later = await world({ from: made });
  const lost = await later.call(TOOL, {}, { id: "c9", text: call.arguments });
  equal(lost.outcome, "invalidArguments");
  match(lost.error ?? "", /kept in memory alone/);
  deepEqual(later.sent, []);
});

Deno.test("pages, counts, variables and handles are no credentials, and nobody is asked about them", async () => {
  const made = await world();
  const plain: readonly JsonObject[] = [
    { page_token: "CAUQAA", nextPageToken: KEY.slice(4, 20), max_tokens: "4096" },
    { key: "PROJ-17", issueKey: "PROJ-17", keyword: "boats", author: "alice" },
    { api_key: "$API_KEY", token: "<token>", password: "", secret: "secret:harbour" },
    { query: "how do I reset my password: see the manual", token: true },
    { sha: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" },
  ];
  for (const [n, args] of plain.entries()) {
    const result = await made.call(TOOL, args, { id: `plain_${n}` });
    equal(result.outcome, "ok", JSON.stringify(args));
  }
  ok(made.sent.length === plain.length);
});
