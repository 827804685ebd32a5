import assert from "node:assert/strict";
import { Parsed } from "../../contracts/mod.ts";
import { parts } from "./_fixture/parts.ts";
import { makeParseService, MOST_DOCUMENT } from "./service.ts";

const encode = (text: string): string => new TextEncoder().encode(text).toBase64();

Deno.test("a document comes in pieces and leaves as text", async () => {
  const service = makeParseService(parts);
  await service.ask("begin", { kind: "html", name: "a.html", bytes: 16 });
  await service.ask("piece", { base64: encode("<title>T</") });
  await service.ask("piece", { base64: encode("title>") });
  await assert.rejects(async () => await service.ask("piece", { base64: encode("x") }), {
    code: "refused",
  });
  assert.deepEqual(Parsed.parse(await service.ask("parse", null)), {
    ...{ text: "", title: "T", parser: "html@2", notes: [] },
  });
});

Deno.test("a process that has read one document takes no other", async () => {
  const service = makeParseService(parts);
  const begin = { kind: "text", name: "a", bytes: 1 };
  await service.ask("begin", begin);
  assert.throws(() => service.ask("begin", begin), { code: "refused" });
  await service.ask("piece", { base64: encode("a") });
  await service.ask("parse", null);
  for (const [op, body] of [["begin", begin], ["piece", { base64: "" }]] as const) {
    assert.throws(() => service.ask(op, body), { code: "refused" }, op);
  }
  await assert.rejects(async () => await service.ask("parse", null), { code: "refused" });
});

Deno.test("a document that is too large, of no kind or not whole is refused", async () => {
  const begin = (body: Parameters<ReturnType<typeof makeParseService>["ask"]>[1]) => () =>
    makeParseService(parts).ask("begin", body);
  assert.throws(begin({ kind: "text", name: "a", bytes: MOST_DOCUMENT + 1 }), { code: "tooLarge" });
  assert.throws(begin({ kind: "exe", name: "a", bytes: 1 }), { code: "refused" });
  assert.throws(begin({ kind: "__proto__", name: "a", bytes: 1 }), { code: "refused" });
  assert.throws(begin({ kind: "text", name: "a", bytes: -1 }), { code: "refused" });
  assert.throws(begin(null), { code: "refused" });
  const service = makeParseService(parts);
  service.ask("begin", { kind: "text", name: "a", bytes: 2 });
  await assert.rejects(async () => await service.ask("parse", null), { code: "refused" });
  assert.throws(() => service.ask("run", null), { code: "refused" });
});

Deno.test("whatever a reader throws becomes a fault about that document", async () => {
  const service = makeParseService({
    ...parts,
    html: () => {
      throw new RangeError("Maximum call stack\u001b[2J size exceeded");
    },
  });
  service.ask("begin", { kind: "html", name: "a.html", bytes: 0 });
  await assert.rejects(async () => await service.ask("parse", null), {
    code: "invalidInput",
    message: 'Cannot read "a.html": it is damaged (Maximum call stack[2J size exceeded)',
  });
});
