import assert from "node:assert/strict";
import { toJson } from "../../contracts/base/mod.ts";
import type { ChatMessage } from "../../contracts/model/mod.ts";
import { differenceOf } from "./commands.ts";
import { conversationIn, taskNamed } from "./name.ts";
import { messageLines, readMessages } from "./message_lines.ts";

const message = (content: string, more: Partial<ChatMessage> = {}): ChatMessage => ({
  role: "user",
  content,
  provenance: { origin: "person", colour: "BLUE", label: "internal" },
  ...more,
});

Deno.test("a conversation is named with or without a turn, and nothing else is read as one", () => {
  assert.deepEqual(conversationIn("talk"), { conversation: "talk" });
  assert.deepEqual(conversationIn("talk@12"), { conversation: "talk", turn: 12 });
  for (const text of ["", "@1", "talk@", "talk@0", "talk@x", "a@1@2"]) {
    assert.throws(() => conversationIn(text), /write NAME or NAME@TURN/);
  }
});

Deno.test("a message is shown whole, and none of its characters moves the cursor", () => {
  const evil = "one\n\u001b[2Jtwo\u202e";
  const lines = messageLines(message(evil, {
    role: "tool",
    toolName: "file\u001b_read",
    provenance: { origin: "tool", source: "desk/\u0007a", colour: "RED", label: "secret" },
  }));
  assert.equal(lines.length, 3);
  assert.match(lines[0] ?? "", /^tool file.*\(tool desk.*, RED, secret\)$/);
  assert.equal(lines[1], "  one");
  for (const hidden of ["\u001b", "\u0007", "\u202e"]) assert.ok(!lines.join("").includes(hidden));
  const asked = messageLines(message("", {
    role: "assistant",
    toolCalls: [{ id: "c1" as never, name: "file_read", arguments: '{"path":"a"}' }],
  }));
  assert.deepEqual(asked.slice(1), ['  file_read {"path":"a"}']);
});

Deno.test("pages are read to the end, and a name gives its task without reading them", async () => {
  const asked: unknown[] = [];
  const link = {
    ask(op: string, body: unknown) {
      asked.push([op, body]);
      const { from } = body as { from: number };
      return Promise.resolve(toJson({
        task: "t000000000001",
        turn: 2,
        messages: [message(`m${from}`)],
        next: from === 0 ? 1 : null,
      }));
    },
  };
  const { messages, turn } = await readMessages(link, "conversation", { conversation: "talk" });
  assert.deepEqual(messages.map(({ content }) => content), ["m0", "m1"]);
  assert.equal(turn, 2);
  assert.equal(asked.length, 2);
  assert.equal(await taskNamed(link, "talk"), "t000000000001");
  assert.equal(await taskNamed(link, "t00000000000x"), "t00000000000x");
  assert.equal(asked.length, 3);
});

Deno.test("two conversations are the same up to where they part", () => {
  const [a, b, c] = ["a", "b", "c"].map((text) => message(text));
  assert.ok(a && b && c);
  assert.deepEqual(differenceOf([a, b], [a, c, b]), { same: 1, onlyA: [b], onlyB: [c, b] });
  assert.deepEqual(differenceOf([a], [a]), { same: 1, onlyA: [], onlyB: [] });
});
