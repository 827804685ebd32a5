import assert from "node:assert/strict";
import { makeTextTransport, MAX_LINE } from "./stdio.ts";

function made(): {
  readonly transport: ReturnType<typeof makeTextTransport>;
  readonly written: string[];
  readonly heard: unknown[];
  readonly errors: string[];
} {
  const written: string[] = [];
  const heard: unknown[] = [];
  const errors: string[] = [];
  const transport = makeTextTransport((text) => void written.push(text));
  transport.onmessage = (message) => void heard.push(message);
  transport.onerror = (error) => void errors.push(error.message);
  return { transport, written, heard, errors };
}

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

Deno.test("lines come whole, however their bytes were cut", () => {
  const { transport, heard } = made();
  for (const piece of [`${PING}\n${PING.slice(0, 7)}`, PING.slice(7), "\r\n\n", `${PING}`]) {
    transport.feed(piece);
  }
  assert.equal(heard.length, 2);
  transport.feed("\n");
  assert.equal(heard.length, 3);
});

Deno.test("what is no message is answered as such, and the session goes on", () => {
  const { transport, heard, written, errors } = made();
  transport.feed(`{\nnull\n{"jsonrpc":"1.0"}\n${PING}\n`);
  assert.equal(heard.length, 1);
  assert.equal(errors.length, 3);
  assert.match(
    written.join(""),
    /^(?:\{"jsonrpc":"2\.0","id":null,"error":\{"code":-32700.*\}\n){3}$/,
  );
});

Deno.test("a line without an end closes the session", () => {
  const { transport, errors } = made();
  let closed = 0;
  transport.onclose = () => void closed++;
  transport.feed("x".repeat(MAX_LINE + 1));
  assert.deepEqual([closed, errors.length], [1, 1]);
  transport.feed(`\n${PING}\n`);
  assert.equal(closed, 1);
});
