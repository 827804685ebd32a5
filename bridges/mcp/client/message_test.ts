import assert from "node:assert/strict";
import { MAX_MESSAGE_DEPTH } from "./limits.ts";
import { readMessage } from "./message.ts";

const kindOf = (message: object): string => readMessage(JSON.stringify(message)).kind;
const whyOf = (text: string): string => {
  const message = readMessage(text);
  return message.kind === "bad" ? message.why : message.kind;
};

Deno.test("each kind of message is told from the others", () => {
  const jsonrpc = "2.0";
  assert.equal(kindOf({ jsonrpc, id: 0, method: "ping" }), "request");
  assert.equal(kindOf({ jsonrpc, id: "a", method: "ping", params: {} }), "request");
  assert.equal(kindOf({ jsonrpc, method: "x" }), "notification");
  assert.equal(kindOf({ jsonrpc, id: 1, result: {} }), "result");
  assert.equal(kindOf({ jsonrpc, id: 1, error: { code: 1, message: "" } }), "error");
  assert.equal(kindOf({ jsonrpc, error: { code: 1, message: "" } }), "error");
});

const BAD: Readonly<Record<string, RegExp>> = {
  "": /syntax error/,
  "5": /no object/,
  "[]": /batch/,
  '{"jsonrpc":"1.0","method":"x"}': /not JSON-RPC/,
  '{"jsonrpc":"2.0","method":5}': /no proper method/,
  '{"jsonrpc":"2.0","method":"x","params":[1]}': /parameters that are no object/,
  '{"jsonrpc":"2.0","method":"x","id":null}': /no proper id/,
  '{"jsonrpc":"2.0","method":"x","id":1.5}': /no proper id/,
  '{"jsonrpc":"2.0","method":"x","result":{}}': /a request and an answer/,
  '{"jsonrpc":"2.0","id":1,"result":null}': /no object/,
  '{"jsonrpc":"2.0","result":{}}': /without a proper id/,
  '{"jsonrpc":"2.0","id":{},"error":{"code":1,"message":""}}': /without a proper id/,
  '{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":""}}': /malformed error/,
  '{"jsonrpc":"2.0","method":"x","params":{"a":1e999}}': /out of range/,
  '{"jsonrpc":"2.0","method":"x","params":{"\\u005f_proto__":1}}': /__proto__/,
};

for (const [text, why] of Object.entries(BAD)) {
  Deno.test(`mallory's message is refused: ${text.slice(0, 60) || "nothing"}`, () => {
    assert.match(whyOf(text), why);
  });
}

Deno.test("a message is bounded in depth and in values", () => {
  const nested = (depth: number): string =>
    `{"jsonrpc":"2.0","method":"x","params":{"a":${"[".repeat(depth)}${"]".repeat(depth)}}}`;
  assert.equal(whyOf(nested(MAX_MESSAGE_DEPTH - 2)), "notification");
  assert.match(whyOf(nested(MAX_MESSAGE_DEPTH - 1)), /too deeply/);
  assert.match(whyOf(nested(1_000_000)), /too deeply/);
  const many = `{"jsonrpc":"2.0","method":"x","params":{"a":[${"1,".repeat(400_000)}1]}}`;
  assert.match(whyOf(many), /too many/);
});
