import assert from "node:assert/strict";
import fc from "fast-check";
import { MCP_LINE } from "../../../../contracts/exchange/mcp_limits.ts";
import { makeEventReader } from "./kernel_fetch.ts";

function read(
  ...pieces: readonly string[]
): { readonly out: string; readonly report: readonly string[] } {
  const report: string[] = [];
  const reader = makeEventReader((what) => report.push(what));
  return { out: pieces.map((piece) => reader(piece)).join(""), report };
}

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

Deno.test("alice reads events whatever their line ends are and wherever the pieces are cut", () => {
  const wanted = `retry: 500\nid: 7\ndata: ${PING}\n\n`;
  for (const end of ["\n", "\r\n", "\r"]) {
    const stream = ["event: message", "id: 7", "retry:500", `data: ${PING}`, "", ""].join(end);
    // A carriage return at the end waits for what follows it.
    assert.equal(read(stream, "\n").out, wanted);
    fc.assert(fc.property(fc.nat(stream.length), fc.nat(stream.length), (one, other) => {
      const [first, second] = [Math.min(one, other), Math.max(one, other)];
      const pieces = [stream.slice(0, first), stream.slice(first, second), stream.slice(second)];
      assert.equal(read(...pieces, "\n").out, wanted);
    }));
  }
});

Deno.test("a message over several lines of data becomes one line", () => {
  assert.equal(
    read(`data: {"jsonrpc":"2.0",\ndata: "method":"ping","id":1}\n\n`).out,
    `data: {"jsonrpc":"2.0","method":"ping","id":1}\n\n`,
  );
});

Deno.test("an event that only numbers the stream passes, comments and other events do not", () => {
  assert.equal(read("id: 1\ndata: \n\n").out, "id: 1\ndata: \n\n");
  assert.equal(read(": still here\n\n").out, "");
  assert.equal(read(`event: other\ndata: ${PING}\n\n`).out, "");
});

Deno.test("mallory's waiting time is kept within bounds, her long number is left out", () => {
  assert.equal(read("retry: 0\ndata:\n\n").out, "retry: 100\ndata: \n\n");
  assert.equal(read("retry: 999999999\ndata:\n\n").out, "retry: 30000\ndata: \n\n");
  const found = read(`id: ${"9".repeat(2_000)}\ndata:\n\n`);
  assert.equal(found.out, "data: \n\n");
  assert.match(found.report.join(), /too long/);
});

Deno.test("mallory's broken answer becomes an error, and anything else that is broken is gone", () => {
  const found = read(
    `data: {"jsonrpc":"2.0","id":4,"result":5}\n\ndata: [1]\n\ndata: {"a":1,"a":2}\n\n`,
  );
  assert.match(found.out, /^data: \{"jsonrpc":"2.0","id":4,"error":\{"code":-32603/);
  assert.equal(found.out.split("\n\n").length, 2);
  assert.equal(found.report.length, 3);
});

Deno.test("mallory's event without an end is refused", () => {
  const reader = makeEventReader(() => {});
  const piece = "x".repeat(1_048_576);
  assert.throws(() => {
    for (let units = 0; units <= MCP_LINE + piece.length; units += piece.length) reader(piece);
  }, RangeError);
});
