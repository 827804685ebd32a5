import assert from "node:assert/strict";
import fc from "fast-check";
import type { Json } from "../values.ts";
import recorded from "./_vectors.json" with { type: "json" };
import { applyFilter } from "./filter.ts";
import { processorTime } from "../../../tests/fake/processor_time.ts";

const all = (
  filter: string,
  input: Json = null,
  args = {},
) => [...applyFilter(filter, input, { args })];

Deno.test("each of 210 filters gives what jq 1.6 gave for the same input", () => {
  const input: Json = JSON.parse(JSON.stringify(recorded.input));
  assert.ok(recorded.vectors.length >= 200);
  for (const [filter, wanted] of recorded.vectors) {
    if (wanted === null) assert.throws(() => all(String(filter), input), String(filter));
    else {assert.deepEqual(
        JSON.stringify(all(String(filter), input)),
        JSON.stringify(wanted),
        String(filter),
      );}
  }
});

for (
  const [filter, wanted] of [
    ['.s | [scan("\\\\w+")]', ["héllo", "wörld_2", "٣"]],
    ['.s | [scan("\\\\W+")]', [" ", "-"]],
    ['.s | [scan("[\\\\w-]+")]', ["héllo", "wörld_2-٣"]],
    ['.s | [scan("[^\\\\W]+")]', ["héllo", "wörld_2", "٣"]],
    ['.s | [scan("\\\\d")]', ["2", "٣"]],
    ['.s | [scan("\\\\b.")]', ["h", " ", "w", "-", "٣"]],
    ['.s | capture("(?<a>\\\\w+) (?<b>\\\\w+)")', { a: "héllo", b: "wörld_2" }],
    ["[1e1000, -1e1000]", [Number.MAX_VALUE, -Number.MAX_VALUE]],
    ["[(2 | IN(1, 2)), IN(.n[]; 5)]", [true, false]],
    [".e | INDEX(.k)", { a: { k: "a", v: 2 }, "1": { k: 1, v: 3 } }],
    ["[[0, 1] | combinations(2)]", [[0, 0], [0, 1], [1, 0], [1, 1]]],
  ] as const
) {
  Deno.test(`what jq 1.6 gives for ${filter}, this gives`, () => {
    const e = [{ k: "a", v: 1 }, { k: "a", v: 2 }, { k: 1, v: 3 }];
    assert.deepEqual(all(filter, { s: "héllo wörld_2-٣", n: [1, 2], e }), [wanted]);
  });
}
Deno.test("a replacement that gives several texts gives as many results", () => {
  const cases = `"\\(.a|ascii_upcase)", "\\(.a|ascii_downcase)", "c"`;
  assert.deepEqual(all(`sub("(?<a>.)"; ${cases})`, "aB"), ["AB", "aB", "cB"]);
  assert.deepEqual(all(`gsub("(?<a>.)"; ${cases})`, "aB"), ["AB", "ab", "cc"]);
  assert.deepEqual(all('gsub("x"; "1", "2")', "aB"), ["aB"]);
  assert.deepEqual(all('sub("a" | ., "B"; "1", "2")', "aB"), ["1B", "2B", "a1", "a2"]);
  const uneven = 'gsub("(?<a>.)"; if .a == "a" then "1" else "1", "2" end)';
  assert.throws(() => all(uneven, "aB"), /gives 2 texts for one match/);
  assert.throws(() => all('sub("a"; empty)', "aB"), /gives 0 texts for one match/);
});

Deno.test("arguments are variables, each by its name and all as $args", () => {
  assert.deepEqual(all("$city, $args.n", null, { city: "Bern", n: 2 }), ["Bern", 2]);
});

for (
  const [filter, why] of [
    [".a[", /something is missing/],
    [".a | ", /something is missing/],
    ["{a:}", /missing/],
    ["if . then 1", /"end" is missing/],
    ['"abc', /a text is not closed/],
    ['"\\q"', /is no escape/],
    ["frob(1)", /frob\/1 is not defined/],
    ["1 = 2 = 3", /should end here/],
    ["$nobody", /\$nobody is not defined/],
    [".a.b", /Cannot index number with "b"/],
    ["error({x: 1})", /\{"x":1\}/],
    ['"a" - 1', /cannot be subtracted/],
    ["path(1)", /Invalid path expression/],
    ['.s | test("(a")', /"\)" is missing/],
    ['.s | test("(?=a)")', /not supported/],
    ['.s | test("(a)\\\\1")', /back-references/],
    ["[] | .[-1] = 1", /negative array index/],
    ["[] | .[1e9] = 1", /too large/],
  ] as const
) {
  Deno.test(`alice's filter ${filter} is refused and says why`, () => {
    assert.throws(() => all(filter, { a: 1, s: "x" }), why);
  });
}

for (
  const [what, filter, input] of [
    ["loops for ever", "def f: f; f", null],
    ["recurses for ever", "[recurse(.)]", null],
    ["repeats for ever", "last(repeat(1))", null],
    ["counts very far", "last(range(1e12))", null],
    ["makes a long text", '"x" * 1e12', null],
    ["doubles a text", 'reduce range(100) as $i ("x"; . + .)', null],
    ["is deep in brackets", `${"[".repeat(5000)}${"]".repeat(5000)}`, null],
    ["is deep in texts", `${'"\\('.repeat(2000)}1`, null],
    ["repeats in a pattern", 'test("((a{1,1000}){1,1000}){1,1000}")', "a"],
    ["fills an array", "[] | .[999999999] = 1", null],
  ] as const
) {
  Deno.test(`mallory's filter that ${what} ends within its budget`, () => {
    const started = processorTime();
    assert.throws(() => all(filter, input), { name: "Refusal" });
    assert.ok(processorTime() - started < 60_000);
  });
}

Deno.test("keys called like members of every object are keys like any other", () => {
  const input: Json = JSON.parse('{"__proto__":{"x":1},"constructor":2}');
  assert.deepEqual(all(".__proto__.x, .constructor, .toString", input), [1, 2, null]);
  assert.equal(
    JSON.stringify(all('{} | .["__proto__"] = 1 | .a = 2', null)),
    '[{"__proto__":1,"a":2}]',
  );
  assert.equal(
    JSON.stringify(all("with_entries(.value = 3)", input)),
    '[{"__proto__":3,"constructor":3}]',
  );
  assert.equal(JSON.stringify(all("del(.__proto__)", input)), '[{"constructor":2}]');
  assert.equal(JSON.stringify(all("map_values(.) == .", input)), "[true]");
});

const json = fc.jsonValue({ maxDepth: 3, noUnicodeString: false }).map((value): Json =>
  JSON.parse(JSON.stringify(value))
);
const same = (left: string, right: string) => (input: Json) =>
  assert.deepEqual(all(left, input), all(right, input));

for (
  const [law, left, right] of [
    [
      "a document is what its paths and leaves say",
      ". as $d | reduce (paths(scalars) | .) as $p ($d; setpath($p; $d | getpath($p)))",
      ".",
    ],
    ["text and back changes nothing", "tojson | fromjson", "."],
    ["walking with identity changes nothing", "walk(.)", "."],
    ["updating everything with identity changes nothing", "(..) |= .", "."],
    ["mapping identity changes nothing", "[.] | map(.) | .[0]", "."],
    ["every value is found by its path", "[path(..)] as $p | [getpath($p[])]", "[..]"],
    ["sorting twice is sorting once", "[..] | sort | sort", "[..] | sort"],
    ["groups hold all there is", "[..] | group_by(type) | add | length", "[..] | length"],
    [
      "unique is sorted and without neighbours alike",
      "[..] | unique",
      "[..] | group_by(.) | map(.[0])",
    ],
    ["reversing twice changes nothing", "[..] | reverse | reverse", "[..]"],
    ["deleting all paths but none changes nothing", "delpaths([])", "."],
    ["the least is the head of the sorted", "[..] | min", "[..] | sort | .[0]"],
  ] as const
) {
  Deno.test(`for any document, ${law}`, () => {
    fc.assert(fc.property(json, same(left, right)), { numRuns: 150 });
  });
}

Deno.test("whatever characters a filter has, it gives values or a refusal and never a fault of ours", () => {
  const piece = fc.constantFrom(
    ...' . .. [ ] { } ( ) | , : ; " \\ ? // = |= + - * / % == < and or not if then else end try catch reduce foreach as $x def f . .a .[0] 1 "a" map( select( keys length sort @csv path( del( limit( first('
      .split(" "),
  );
  const input = { a: [1, { b: "x" }], c: null };
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      try {
        for (const _ of applyFilter(pieces.join(" "), input, { steps: 10_000 }));
      } catch (error) {
        assert.equal(error instanceof Error && error.name, "Refusal", String(error));
      }
    }),
    { numRuns: 3_000 },
  );
});
