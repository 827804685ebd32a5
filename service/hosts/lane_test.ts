import assert from "node:assert/strict";
import { CallId, ToolName } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { CALLER_PROGRAM, callMessage, readCalled, toldProgress } from "./lane.ts";

const CALL = {
  id: CallId.parse("c1"),
  name: ToolName.parse("file_read"),
  arguments: '{"path":"a"}',
};

/** The program, run with ports of a test. */
async function turn(message: string | undefined, results: readonly object[]): Promise<{
  readonly end: { readonly stop: string; readonly text: string };
  readonly asked: readonly unknown[];
}> {
  const asked: unknown[] = [];
  const left = [...results];
  const ports = {
    advertise: () => Promise.resolve({ id: `s${asked.length}` }),
    call: (snapshot: string, call: unknown) => {
      asked.push([snapshot, call]);
      return Promise.resolve(left.shift());
    },
  };
  const program = (0, eval)(CALLER_PROGRAM);
  const end = await program.turn(ports, message === undefined ? undefined : { content: message });
  return { end, asked };
}

const OK = { callId: "c1", outcome: "ok", content: "line\nline", colour: "RED", label: "public" };

Deno.test("the program makes exactly the call that it is told, and says all that came of it", async () => {
  const { end, asked } = await turn(callMessage(CALL), [OK]);
  assert.deepEqual(asked, [["s0", CALL]]);
  assert.equal(end.stop, "answered");
  assert.deepEqual(readCalled(end.text, CALL.id), OK);
});

Deno.test("words that are no call make none", async () => {
  for (const words of [undefined, "", "hello", "{}", "[]", '"x"', "null"]) {
    const { end, asked } = await turn(words, []);
    assert.deepEqual(asked, []);
    assert.equal(readCalled(end.text, CALL.id), undefined);
  }
});

Deno.test("a table that changed meanwhile is asked for once more, and only once", async () => {
  const unknown = { ...OK, outcome: "unknownTool", content: "" };
  assert.equal((await turn(callMessage(CALL), [unknown, OK])).asked.length, 2);
  assert.equal((await turn(callMessage(CALL), [unknown, unknown, OK])).asked.length, 2);
});

Deno.test("an answer about another call is not this one's", async () => {
  const { end } = await turn(callMessage(CALL), [OK]);
  assert.equal(readCalled(end.text, CallId.parse("c2")), undefined);
  assert.equal(readCalled("{}\n", CALL.id), undefined);
  assert.equal(readCalled("not json\n", CALL.id), undefined);
});

Deno.test("arguments that no turn takes are refused before they are sent", () => {
  const long = { ...CALL, arguments: JSON.stringify({ content: "x".repeat(200_000) }) };
  assert.throws(
    () => callMessage(long),
    (error: unknown) => error instanceof Fault && error.code === "tooLarge",
  );
});

Deno.test("a host is told what a call says of itself only as far as it is told results", () => {
  const told = (label: unknown, clearance: "public" | "internal" | "secret"): string =>
    toldProgress("plum-orchard", { label, clearance, instead: "withheld" });
  assert.equal(told("public", "internal"), "plum-orchard");
  assert.equal(told("internal", "internal"), "plum-orchard");
  assert.equal(told("secret", "secret"), "plum-orchard");
  assert.equal(told("secret", "internal"), "withheld");
  assert.equal(told("internal", "public"), "withheld");
  for (const label of [undefined, "", "PUBLIC", 1, null]) {
    assert.equal(told(label, "secret"), "withheld");
  }
});
