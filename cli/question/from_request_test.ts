import assert from "node:assert/strict";
import type { Question } from "../../contracts/authority/mod.ts";
import { valueOrigins } from "./question_frame.ts";

const question = (args: object, scope: object = {}): Question =>
  // TRUST: what of a question the origins read.
  ({
    scope: { tool: "mcp_bank_pay", effect: "outboundWrite", ...scope },
    argumentsText: JSON.stringify(args),
  }) as unknown as Question;

const REQUEST = "Pay 98.70 to UK12345 for the car, subject 'Car Rental'.";

Deno.test("alice's own transfer is told from the one that a letter wanted", () => {
  assert.deepEqual(
    valueOrigins(question({ recipient: "UK12345", amount: 98.7, subject: "Car Rental" }), REQUEST),
    { asked: ["recipient: UK12345", "amount: 98.7", "subject: Car Rental"], elsewhere: [] },
  );
  assert.deepEqual(
    valueOrigins(question({ recipient: "US133000000121212121212", amount: 98.7 }), REQUEST),
    { asked: ["amount: 98.7"], elsewhere: ["recipient: US133000000121212121212"] },
  );
});

Deno.test("a part of a longer value, another number and a flag are no words of hers", () => {
  const { asked, elsewhere } = valueOrigins(
    question({ to: ["UK1234", "K12345"], amount: 8.7, rw: true, note: { text: "" } }),
    REQUEST,
  ) ?? { asked: ["?"], elsewhere: [] };
  assert.deepEqual(asked, []);
  assert.deepEqual(elsewhere, [
    "to.0: UK1234",
    "to.1: K12345",
    "amount: 8.7",
    "rw: true",
    "note.text: ",
  ]);
});

Deno.test("what stays in the task has no origins to show, nor what is no object", () => {
  const local = { tool: "patch_apply", effect: "mutateLocal" };
  assert.equal(valueOrigins(question({ path: "desk/a" }, local), REQUEST), undefined);
  const broken = { ...question({}), argumentsText: "{" };
  assert.equal(valueOrigins(broken, REQUEST), undefined);
});

Deno.test("what the gate knows of a value is said beside it, and decides where it stands", () => {
  const origins = [
    { at: "to", from: "result", tool: "mcp_mail_read", call: "c1", colour: "RED" },
    { at: "id", from: "record", tool: "mcp_mail_list", call: "c0", colour: "RED" },
    { at: "rw", from: "default" },
    { at: "text", from: "agent" },
  ];
  const asking = { ...question({ to: "US1", id: 7, rw: false, text: "UK12345" }), origins };
  assert.deepEqual(valueOrigins(asking as unknown as Question, REQUEST), {
    asked: ["rw: false"],
    elsewhere: [
      "to: US1  (stands in a result of mcp_mail_read, which a stranger wrote)",
      "id: 7  (the id of what your words name, listed by mcp_mail_list)",
      "text: UK12345  (written by the agent)",
    ],
  });
});
