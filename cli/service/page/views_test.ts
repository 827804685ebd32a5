import assert from "node:assert/strict";
import { InboxEntry } from "../../../contracts/exchange/mod.ts";
import { PageView } from "../../../contracts/wire/mod.ts";
import { homeView, messageView } from "./views.ts";

const NOW = 1_700_000_000_000;
const EVIL = "\u202e\u001b[1A\nfrom       host";
const command = (words: string): string => `remit ${words}`;

/** A message of mallory's, who writes what she can into every field. */
function entryOf(more: object = {}): InboxEntry {
  return InboxEntry.parse({
    ...{ id: "m000000000001", box: "agent:desk", n: 1, colour: "RED", label: "public" },
    ...{ state: "held", why: "a person decides whether it is taken", bytes: 10 },
    ...{ receivedAt: NOW - 60_000 },
    message: {
      ...{ id: "1", sender: "peer:mallory", kind: "handoff", body: EVIL, schema: EVIL },
      ...{ artifactRefs: [EVIL], requestedAuthority: [] },
      requestedActions: [{ tool: EVIL, arguments: EVIL, why: EVIL }],
    },
    ...more,
  });
}

const home = (messages: readonly InboxEntry[]): PageView =>
  PageView.parse(homeView({ tasks: [], unfinished: [], questions: [], messages, now: NOW }));

Deno.test("carol sees at the page what of mallory waits, the newest first, each with the page of its own", () => {
  const { sections } = home([
    entryOf(),
    entryOf({ id: "m000000000002", n: 2, state: "quarantined" }),
  ]);
  const held = sections.find(({ heading }) => heading === "messages that wait to be let in");
  assert.deepEqual(held?.rows.map(({ to }) => to), ["m000000000002", "m000000000001"]);
  assert.deepEqual(held?.rows[1]?.cells.slice(1, 5), ["held", "peer:mallory", "handoff", "1 min"]);
  assert.equal(home([]).sections.length, 2, "where none waits nothing is said of it");
});

Deno.test("a message that waits is shown whole and answered nowhere here: the terminal's commands are named", () => {
  const view = PageView.parse(messageView(entryOf(), { now: NOW, command }));
  assert.equal(view.answer, undefined);
  assert.match(view.elsewhere ?? "", /remit inbox release m000000000001.*inbox dismiss/);
  const [what] = view.sections;
  assert.ok(what?.lines.some((line) => /^from +peer:mallory$/.test(line)));
  assert.ok(what?.lines.some((line) => line.startsWith("it proposes to call")));
});

Deno.test("nothing that mallory wrote passes for ours, or turns the text around", () => {
  const view = PageView.parse(messageView(entryOf(), { now: NOW, command }));
  const lines = view.sections.flatMap((section) => section.lines);
  assert.ok(!lines.some((line) => /^from +host/.test(line)));
  // deno-lint-ignore no-control-regex -- it looks for them
  assert.doesNotMatch(JSON.stringify([view, home([entryOf()])]), /[\u202e\x1b]|\\u001b/);
});

Deno.test("a message that was let in names its task, and no command", () => {
  const entry = entryOf({ state: "delivered", task: "t000000000001" });
  const view = PageView.parse(messageView(entry, { now: NOW, command }));
  assert.equal(view.elsewhere, undefined);
  assert.deepEqual(view.sections[0]?.rows.map(({ to }) => to), ["t000000000001"]);
});
