import assert from "node:assert/strict";
import { SendMessageRequest } from "@a2a-js/sdk";
import { MODES, sayOf, takes } from "./incoming_message.ts";
import { partOf, peerPartOf } from "./part.ts";
import { Part } from "@a2a-js/sdk";

const request = (message: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  SendMessageRequest.fromJSON({
    message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "hello" }], ...message },
    ...more,
  });
const known = { token: "t", modes: MODES, newId: () => "made" };

Deno.test("a message is asked of the starter with the caller's token, and with nothing that the peer says of itself", () => {
  const { say, how } = sayOf(
    request({ contextId: "c", metadata: { b: 1, a: [null] }, extensions: ["urn:x"] }, {
      metadata: { peer: "bob", token: "other" },
      configuration: { historyLength: 2, returnImmediately: true },
    }),
    known,
  );
  assert.deepEqual(say, {
    token: "t",
    context: "c",
    metadata: '{"peer":"bob","token":"other"}',
    message: {
      ...{ id: "m", parts: [{ kind: "text", text: "hello" }], metadata: '{"a":[null],"b":1}' },
      ...{ extensions: ["urn:x"], references: [] },
    },
  });
  assert.deepEqual(how, { historyLength: 2, returnImmediately: true });
});

Deno.test("each kind of part goes there and back as it was", () => {
  const parts = [
    { text: "a", mediaType: "text/markdown" },
    { raw: "AAEC", filename: "x.bin", mediaType: "application/x-bin" },
    { url: "https://example.com/a", filename: "a", mediaType: "text/html" },
    { data: { b: [1, "2", null], a: {} } },
    { data: "text" },
    { data: 0 },
  ];
  for (const part of parts) {
    assert.deepEqual(Part.toJSON(partOf(peerPartOf(Part.fromJSON(part)))), part);
  }
});

Deno.test("a media type is taken where the card has it, its family, or bytes of any application", () => {
  const rows: readonly (readonly [readonly string[], string, boolean])[] = [
    [["text/plain"], "text/plain", true],
    [["text/plain"], "text/x-any", true],
    [["text/markdown"], "text/plain", false],
    [["text/*"], "text/html", true],
    [["*/*"], "audio/ogg", true],
    [["application/octet-stream"], "application/x-any", true],
    [["application/json"], "application/x-any", false],
    [["application/octet-stream"], "image/png", false],
    [["image/*"], "imageevil/png", false],
    [[], "text/plain", false],
  ];
  for (const [modes, type, taken] of rows) {
    assert.equal(takes(modes, type), taken, `${modes} ${type}`);
  }
});

Deno.test("a message that is too large as a whole is refused although each part is small enough", () => {
  const parts = Array.from({ length: 9 }, () => ({ text: "x".repeat(250_000) }));
  assert.throws(() => sayOf(request({ parts }), known), /longer than 2000000 bytes/);
});
