import assert from "node:assert/strict";
import fc from "fast-check";
import { shownArguments } from "./question_frame.ts";

Deno.test("a page's text is shown line by line beside the other arguments, and nothing is lost", () => {
  const args = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.constant("a\nb")));
  fc.assert(fc.property(args, (given) => {
    const { rest, texts } = shownArguments(JSON.stringify(given));
    const again = {
      ...JSON.parse(rest),
      ...Object.fromEntries(texts.map(({ name, text }) => [name, text])),
    };
    assert.deepEqual({ ...again }, JSON.parse(JSON.stringify(given)));
  }));
});

Deno.test("what is no object of arguments is shown as it came", () => {
  for (const text of ["", "[1]", '"a\\nb"', "{", "null"]) {
    assert.deepEqual(shownArguments(text), { rest: text, texts: [] });
  }
});
