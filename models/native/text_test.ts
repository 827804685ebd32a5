import fc from "fast-check";
import assert from "node:assert/strict";
import { makeStops } from "./engine.ts";
import { makeTokenText } from "./token_text.ts";

/** A model whose tokens are bytes, and which drops a space at the beginning as llama.cpp does. */
const bytes = {
  detokenize: (tokens: Uint32Array): string =>
    new TextDecoder().decode(Uint8Array.from(tokens)).replace(/^ /, ""),
};

Deno.test("tokens become whole characters, and no space is lost", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 20 }), (raw) => {
      const text = ` ${raw.toWellFormed()}`;
      const pieces = makeTokenText(bytes, 10);
      const said: string[] = [];
      for (const byte of new TextEncoder().encode(text)) said.push(pieces.take(byte));
      said.push(pieces.rest());
      assert.equal(said.join(""), text);
      assert.ok(said.every((each) => !each.includes("\u{fffd}")) || text.includes("\u{fffd}"));
    }),
  );
});

Deno.test("bytes that are no text are let out as such, not held for ever", () => {
  const pieces = makeTokenText(bytes, 10);
  const said = Array.from({ length: 20 }, () => pieces.take(0xff)).join("") + pieces.rest();
  assert.match(said, /^\u{fffd}{20}$/u);
});

Deno.test("text ends before the first stop text, however it comes in pieces", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 30 });
  const stop = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(letters, fc.array(stop, { maxLength: 3 }), fc.integer({ min: 1, max: 4 }), (
      text,
      stops,
      size,
    ) => {
      const watch = makeStops(stops);
      let said = "";
      let stopped = false;
      for (let at = 0; at < text.length && !stopped; at += size) {
        const taken = watch.take(text.slice(at, at + size));
        said += taken.text;
        stopped = taken.stopped;
      }
      if (!stopped) said += watch.rest();
      const ends = stops.map((each) => text.indexOf(each)).filter((at) => at >= 0);
      assert.equal(stopped, ends.length > 0);
      // Of two that come in one piece the first counts; a later piece cannot bring an earlier one.
      if (stopped) assert.ok(text.startsWith(said) && stops.every((each) => !said.includes(each)));
      else assert.equal(said, text);
    }),
  );
});
