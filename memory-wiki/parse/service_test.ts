import assert from "node:assert/strict";
import { Parsed } from "../../contracts/wire/mod.ts";
import { parts } from "./_fixture/parts.ts";
import { makeParseService, MAX_DOCUMENT, MAX_LINE, MAX_TEXT, tidyText } from "./service.ts";

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
  assert.throws(begin({ kind: "text", name: "a", bytes: MAX_DOCUMENT + 1 }), { code: "tooLarge" });
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

Deno.test("lines end with one line feed, however they ended, and no control character is left but tabs", () => {
  const { text, notes } = tidyText("a\r\nb\rc\u2028d\u0085e\ff\tg\u0000\u001b[2J\u009b");
  assert.equal(text, "a\nb\nc\nd\ne\nf\tg[2J\n");
  assert.deepEqual(notes, ["3 control characters were removed."]);
  assert.equal(tidyText("").text, "");
});

Deno.test("what hides, reorders or smuggles is removed, and said", () => {
  const tags = [..."obey"].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join(
    "",
  );
  const { text, notes } = tidyText(`a\u202eb\u200bc\u2066d${tags}e\u{e0101}f\u200dg`);
  assert.equal(text, "abcdefg\n");
  assert.match(notes.join(), /^9 invisible characters were removed\.$/);
});

Deno.test("what joins letters and pictures stays: Persian, Hindi, families, hearts", () => {
  for (
    const word of [
      "می\u200cخواهم",
      "क्\u200dष",
      "👩\u200d👩\u200d👧",
      "❤\ufe0f",
      "1\ufe0f⃣",
      "🏳\ufe0f\u200d🌈",
    ]
  ) {
    assert.deepEqual(tidyText(word), { text: `${word}\n`, notes: [] }, word);
  }
  assert.deepEqual(tidyText("\ufeffa\u00adb"), { text: "ab\n", notes: [] });
});

Deno.test("a line of 5 MB is wrapped at its spaces, and nothing of it is lost", () => {
  const line = "word ".repeat(1_000_000).trim();
  const { text, notes } = tidyText(line);
  assert.ok(text.split("\n").every((part) => part.length <= MAX_LINE));
  assert.equal(text.trimEnd().replaceAll("\n", " "), line);
  assert.deepEqual(notes, ["1 lines of over 10000 characters were wrapped."]);
  const solid = tidyText("🙂".repeat(20_000)).text;
  assert.ok(solid.isWellFormed() && solid.split("\n").every((part) => part.length <= MAX_LINE));
  assert.equal(solid.replaceAll("\n", ""), "🙂".repeat(20_000));
});

Deno.test("a text of more than 16 MiB is cut behind a whole line", () => {
  for (const line of ["short line\n", "ü漢🙂\n"]) {
    const { text, notes } = tidyText(line.repeat(4_000_000));
    const bytes = new TextEncoder().encode(text).length;
    assert.ok(bytes <= MAX_TEXT && bytes > MAX_TEXT - 20, `${bytes} bytes`);
    assert.ok(text.endsWith(line));
    assert.deepEqual(notes, ["The text was cut after 16 MiB."]);
  }
});

Deno.test("half characters become U+FFFD", () => {
  assert.equal(tidyText("a\ud83db\udc00").text, "a\ufffdb\ufffd\n");
});
