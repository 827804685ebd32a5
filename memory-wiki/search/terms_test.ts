import assert from "node:assert/strict";
import fc from "fast-check";
import { stemOf } from "./stem.ts";
import { MOST_TERM, termsOf } from "./terms.ts";

const CASES: Readonly<Record<string, readonly string[]>> = {
  "English words lose their endings": ["Leases leased LEASING", "leas leas leas"],
  "camelCase is found whole and in parts": ["leaseTable", "leas tabl leasetable"],
  "acronyms within a name stand alone": ["parseHTMLText", "pars html text parsehtmltext"],
  "snake, kebab and dotted names come together": [
    "read_file read-file read.file",
    "read file readfile read file readfile read file readfile",
  ],
  "versions and dates stay whole": ["v1.2.3 1.2.3-rc.1 2026-07-28", "1.2.3 1.2.3-rc.1 2026-07-28"],
  "utf-8 finds utf8": ["utf-8 utf8", "utf utf8 utf8"],
  "C++ and C# are not C": ["C C++ C#", "c c++ c#"],
  "apostrophes go": ["Alice's don't", "alic dont"],
  "typographic apostrophes too": ["Alice’s", "alic"],
  "accents and widths are folded": ["Café ＦＵＬＬ ﬁle", "cafe full file"],
  "Chinese is pairs and characters": ["东京都", "东 京 东京 都 京都"],
  "Korean is pairs": ["한국어", "한국 국어"],
  "Japanese kana are pairs": ["ねこです", "ねこ こで です"],
  "Thai is pairs of letters with their marks": ["ภาษา", "ภา าษ ษา"],
  "one letter of such a script is a term": ["ね", "ね"],
  "Latin within Chinese is a word": ["用Deno写", "用 deno 写"],
  "letters without a key are those of the alphabet": [
    "Straße Łódź Ærøskøbing þorn",
    "strass lodz aeroskob thorn",
  ],
  "Cyrillic words stay words": ["Аренда файла", "аренда фаила"],
  "marks of Indic scripts are kept": ["हिन्दी", "हिन्दी"],
  "signs alone say nothing": ["-- ... '' {} 🦕", ""],
};
for (const [claim, [text = "", terms = ""]] of Object.entries(CASES)) {
  Deno.test(`terms: ${claim}`, () => {
    assert.deepEqual(termsOf(text), terms === "" ? [] : terms.split(" "));
  });
}

Deno.test("Porter's own examples come out as he says", () => {
  const stems: Readonly<Record<string, string>> = {
    ...{ caresses: "caress", ponies: "poni", cats: "cat", feed: "feed", agreed: "agre" },
    ...{ plastered: "plaster", motoring: "motor", sing: "sing", conflated: "conflat" },
    ...{ troubled: "troubl", sized: "size", hopping: "hop", falling: "fall", filing: "file" },
    ...{ happy: "happi", sky: "sky", relational: "relat", rational: "ration" },
    ...{ generalization: "gener", oscillators: "oscil", adoption: "adopt", probate: "probat" },
    ...{ controlling: "control", roll: "roll", replacement: "replac", dependent: "depend" },
  };
  for (const [word, stem] of Object.entries(stems)) assert.equal(stemOf(word), stem, word);
});

Deno.test("whatever the text, terms are short, without spaces, the same again, and survive being joined", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.string({ unit: fc.constantFrom(..."aB9_.-' #+éß東ไﬁ\u0301\ud800"), maxLength: 300 }),
  );
  fc.assert(fc.property(text, (each) => {
    const terms = termsOf(each);
    assert.deepEqual(termsOf(each), terms);
    for (const term of terms) {
      assert.match(term, /^[\p{L}\p{N}\p{M}.+#-]+$/u);
      assert.ok(term.length > 0 && term.length <= MOST_TERM);
    }
  }));
});

Deno.test("a line of a megabyte without a space is read once, and gives bounded terms", () => {
  for (const piece of ["a", "aB", "a_", "1.", "東", "é"]) {
    const terms = termsOf(piece.repeat(1_000_000 / piece.length));
    assert.ok(terms.every((term) => term.length <= MOST_TERM), piece);
    assert.ok(terms.length <= 2_000_000, piece);
  }
});

Deno.test("mallory's numbers that are nearly a version are read at once", () => {
  // Two ways to read each digit would take longer than anybody waits; a commit's id after a version is such a word.
  const [first] = termsOf(`0.0a${"0".repeat(60)}v`);
  assert.ok(first !== undefined);
  assert.deepEqual(termsOf("1.2.3-rc1.2 1.0a12 2.0b-3"), ["1.2.3-rc1.2", "1.0a12", "2.0b-3"]);
});
