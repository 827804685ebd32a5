import fc from "fast-check";
import assert from "node:assert/strict";
import { sentencesOf } from "./claims.ts";

const split = (text: string): string[] =>
  sentencesOf(text).map(({ start, end }) => text.slice(start, end));

Deno.test("sentences end at stops, and not at abbreviations, initials, numbers or file names", () => {
  assert.deepEqual(split("It ends. It was asked! Was it? Yes…"), [
    "It ends.",
    "It was asked!",
    "Was it?",
    "Yes…",
  ]);
  assert.deepEqual(split("See e.g. Smith et al. for more. Then cf. Fig. 3."), [
    "See e.g. Smith et al. for more.",
    "Then cf. Fig. 3.",
  ]);
  assert.deepEqual(split("J. Smith wrote v1.2.3 in 3.5 days. It is README.md here."), [
    "J. Smith wrote v1.2.3 in 3.5 days.",
    "It is README.md here.",
  ]);
  assert.deepEqual(split("In 1984. He sat. See No. 5 and Fig. 3 of it."), [
    "In 1984.",
    "He sat.",
    "See No. 5 and Fig. 3 of it.",
  ]);
  assert.deepEqual(split("Das gilt z.B. Montag. Dr. Meier kam."), [
    "Das gilt z.B. Montag.",
    "Dr. Meier kam.",
  ]);
  assert.deepEqual(split("1. First comes this. Then that."), [
    "1. First comes this.",
    "Then that.",
  ]);
});

Deno.test("quotes and brackets that close a sentence belong to it", () => {
  assert.deepEqual(split('He said "no." She (not he.) left.'), [
    'He said "no."',
    "She (not he.) left.",
  ]);
});

Deno.test("sentences of scripts without spaces end at their own stops", () => {
  assert.deepEqual(split("他来了。他走了！真的？是。"), ["他来了。", "他走了！", "真的？", "是。"]);
  assert.deepEqual(split("彼は「来た。」と言った。"), ["彼は「来た。」", "と言った。"]);
  assert.deepEqual(split("यह है। वह था।"), ["यह है।", "वह था।"]);
});

Deno.test("sentences in their order hold all of a text but white space", () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom("a", "B", ".", "!", " ", "\n", "。", '"', "1", "e.g. "),
        maxLength: 80,
      }),
      (text) => {
        const spans = sentencesOf(text);
        let at = 0;
        for (const { start, end } of spans) {
          assert.equal(text.slice(at, start).trim(), "");
          assert.ok(end > start);
          at = end;
        }
        assert.equal(text.slice(at).trim(), "");
      },
    ),
  );
});
