import assert from "node:assert/strict";
import fc from "fast-check";
import { displayBlock, displayText } from "./mod.ts";

/** What must never reach a terminal: controls, bidi, zero-width, tags, line separators, surrogates. */
const FORBIDDEN =
  // deno-lint-ignore no-control-regex -- controls are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u2028\u2029\ufeff\u{e0000}-\u{e007f}]|\p{Cs}|\p{Co}/u;

/** Text rich in what mallory would use. */
const hostile = fc.array(
  fc.oneof(
    fc.string({ unit: "binary" }),
    fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    fc.constantFrom(
      "\x1b[2J",
      "\u202e",
      "\u2066",
      "\u200d",
      "\ufe0f",
      "\u{e0041}",
      "👨‍👩‍👧",
      "\r\n",
      "а",
    ),
  ),
  { maxLength: 40 },
).map((parts) => parts.join(""));

Deno.test("no text of mallory's puts a control, bidi or invisible character on carol's screen", () => {
  fc.assert(
    fc.property(hostile, fc.integer({ min: 0, max: 60 }), (text, max) => {
      for (const line of [displayText(text), displayText(text, { max }), ...displayBlock(text)]) {
        assert.doesNotMatch(line, FORBIDDEN);
      }
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("plain ASCII shows as it is", () => {
  const printable = fc.string({ unit: "grapheme-ascii" });
  fc.assert(fc.property(printable, (text) => assert.equal(displayText(text), text)));
});

Deno.test("every line of a block begins with its prefix, however long its lines", () => {
  fc.assert(fc.property(hostile, fc.integer({ min: 0, max: 50 }), (text, columns) => {
    for (const line of displayBlock(text, { prefix: "> ", columns })) {
      assert.ok(line.startsWith("> "));
      assert.ok(!line.includes("\n"));
    }
  }));
});

const TROJAN_SOURCE: Readonly<Record<string, readonly [string, string]>> = {
  "early return": [
    "'''Subtract funds\u2067''' ;return",
    "'''Subtract funds\\u{2067}''' ;return",
  ],
  "commenting out": [
    "/*\u202e } \u2066if (isAdmin)\u2069 \u2066 begin admins only */",
    "/*\\u{202e} } \\u{2066}if (isAdmin)\\u{2069} \\u{2066} begin admins only */",
  ],
  "stretched string": [
    'level != "user\u202e \u2066// Check if admin\u2069 \u2066"',
    'level != "user\\u{202e} \\u{2066}// Check if admin\\u{2069} \\u{2066}"',
  ],
  "invisible function": ["function is\u200bAdmin() {", "function is\\u{200b}Admin() {"],
  "invisible identifier": [
    "const { timeout,\u3164} = query;",
    "const { timeout,\\u{3164}} = query;",
  ],
};
for (const [attack, [source, seen]] of Object.entries(TROJAN_SOURCE)) {
  Deno.test(`Trojan Source, ${attack}: what reorders or hides is spelled out`, () => {
    assert.equal(displayText(source), seen);
  });
}

Deno.test("Trojan Source, homoglyph function: mallory's sаyHello is flagged, alice's is not", () => {
  assert.equal(
    displayText("sаyHello(); sayHello();"),
    "sаyHello⟨look-alike: CYRILLIC а⟩(); sayHello();",
  );
});

const LOOK_ALIKES: readonly (readonly [string, boolean])[] = [
  ["pаypal.com", true],
  ["аррӏе.com", true],
  ["pay to аррӏе today", true],
  ["Αpple", true],
  ["ｐａｙ", true],
  ["notes∕secret", true],
  ["pa\u200by\u200bpаl", true],
  ["notes/заметки.md", false],
  ["сахар и роса, город apple", false],
  ["Δt in μm, naïve café", false],
  ["中文 and English", false],
];
for (const [text, flagged] of LOOK_ALIKES) {
  Deno.test(`look-alikes are ${flagged ? "" : "not "}flagged in ${displayText(text)}`, () => {
    assert.equal(displayText(text).includes("⟨look-alike: "), flagged);
  });
}

Deno.test("terminal escapes, newline kinds, surrogates, private use and unassigned are spelled out", () => {
  assert.equal(displayText("\x1b]0;t\x07\x9b2J\x7f"), "\\u{1b}]0;t\\u{7}\\u{9b}2J\\u{7f}");
  assert.equal(displayText("a\nb\rc\u0085d\u2028e"), "a\\u{a}b\\u{d}c\\u{85}d\\u{2028}e");
  assert.equal(displayText("\ud800 \ue000 \u0378"), "\\u{d800} \\u{e000} \\u{378}");
  assert.equal(displayText("a\u00a0b\u2800"), "a\\u{a0}b\\u{2800}");
});

Deno.test("emoji keep their joiners and selectors; loose ones and tag characters are spelled out", () => {
  assert.equal(displayText("👨‍👩‍👧 ❤️ 🇩🇪"), "👨‍👩‍👧 ❤️ 🇩🇪");
  assert.equal(displayText("a\ufe0fb\u200dc"), "a\\u{fe0f}b\\u{200d}c");
  assert.equal(displayText("\u{e0068}\u{e0069}"), "\\u{e0068}\\u{e0069}");
  assert.doesNotMatch(
    displayText("🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}"),
    FORBIDDEN,
  );
});

Deno.test("combining marks stay beside their letter and do not pile up", () => {
  assert.equal(displayText("e\u0301"), "e\u0301");
  assert.equal(displayText("\u0301"), "\\u{301}");
  assert.equal(
    displayText("a" + "\u0300".repeat(6)),
    "a" + "\u0300".repeat(4) + "\\u{300}\\u{300}",
  );
});

Deno.test("mallory cannot write a note of Remit's: its brackets are spelled out in her text", () => {
  assert.equal(displayText("⟨cut: 3⟩ ↪"), "\\u{27e8}cut: 3\\u{27e9} \\u{21aa}");
});

Deno.test("a cut tells length and hash, and two texts with one beginning differ in it", () => {
  const shown = displayText("x".repeat(100), { max: 4 });
  assert.match(shown, /^xxxx⟨cut: 100 characters, sha256 [0-9a-f]{12}⟩$/);
  assert.notEqual(shown, displayText("x".repeat(99) + "y", { max: 4 }));
  assert.equal(displayText("xxxx", { max: 4 }), "xxxx");
});

Deno.test("an escape is shown whole or not at all", () => {
  assert.match(displayText("ab\u202ecd", { max: 6 }), /^ab⟨cut: 5 /);
});

Deno.test("a block keeps lines, expands tabs, continues long ones after a sign and counts lines", () => {
  assert.deepEqual(displayBlock("a\n\tb\n\nc\n", { prefix: "" }), ["a", "    b", "", "c"]);
  assert.deepEqual(displayBlock("0123456789abcd", { prefix: "|", columns: 12 }), [
    "|0123456789ab",
    "|↪ cd",
  ]);
  const cut = displayBlock("a\nb\nc", { prefix: "", maxLines: 2 });
  assert.deepEqual(cut.slice(0, 2), ["a", "b"]);
  assert.match(cut[2] ?? "", /^⟨cut: 5 characters/);
  assert.deepEqual(displayBlock("a\nb\n", { prefix: "", maxLines: 2 }), ["a", "b"]);
});

Deno.test("64 MB of look-alikes and marks are cut in bounded time and space", () => {
  const huge = "аa \u0301".repeat(1 << 24);
  assert.ok(displayText(huge).length < 80_000);
  assert.ok(displayBlock(huge).length <= 401);
});
