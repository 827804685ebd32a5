import { type Form, readCsv, readForm, writeCsv, writeForm } from "./form/forms.ts";
import { applyFilter, type JsonHost, tools } from "./tool.ts";
import type { Json } from "./values.ts";
import { processorTime } from "../../tests/fake/processor_time.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import recorded from "./_vectors.json" with { type: "json" };

const CSV = { delimiter: ",", header: true };

/** A workspace in memory; reads come in parts of `part` characters. */
function host(files: Record<string, string>, part = 1_000_000): JsonHost {
  return {
    fs: {
      read: ({ path, from = 0 }) => {
        const text = files[path];
        if (text === undefined) {
          return Promise.reject(Object.assign(new Error("no file"), { code: "notFound" }));
        }
        const next = Math.min(text.length, from + part);
        return Promise.resolve({ text: text.slice(from, next), bytes: text.length, next });
      },
      write: ({ path, text }) => {
        files[path] = text;
        return Promise.resolve(null);
      },
    },
  };
}

const none = host({});

Deno.test("alice asks files of each form, told by their names", async () => {
  const remit = host({
    "desk/a.json": '{"n": 1}',
    "desk/a.jsonl": '{"n": 1}\n\n{"n": 2}\n',
    "desk/a.csv": 'id,"n"\r\n1,"a ""b"", c"\r\n2,\r\n',
    "desk/a.tsv": "id\tn\n1\tx\n",
    "desk/a.yaml": "n: 1 # one\nwhen: 2026-01-02\n---\nn: 2\n",
    "desk/a.toml": 'n = 1\nwhen = 2026-01-02\n[t]\nx = "y"\n',
  }, 7);
  const ask = async (path: string, filter = ".") =>
    (await tools.json_select({ path, filter }, remit)).results;
  assert.deepEqual(await ask("desk/a.json", ".n"), [1]);
  assert.deepEqual(await ask("desk/a.jsonl", "map(.n)"), [[1, 2]]);
  assert.deepEqual(await ask("desk/a.csv", ".[]"), [{ id: "1", n: 'a "b", c' }, {
    id: "2",
    n: "",
  }]);
  assert.deepEqual(await ask("desk/a.tsv", ".[0].n"), ["x"]);
  assert.deepEqual(await ask("desk/a.yaml", ".[0].when, .[1].n"), ["2026-01-02", 2]);
  assert.deepEqual(await ask("desk/a.toml", ".t.x, .when"), ["y", "2026-01-02"]);
  await assert.rejects(ask("desk/a.txt"), /pass `format`/);
  await assert.rejects(ask("desk/none.json"), { code: "notFound" });
});

Deno.test("results come in parts, and one that is too long says how to narrow it", async () => {
  const first = await tools.json_select({ text: "[1,2,3,4,5]", filter: ".[]", limit: 2 }, none);
  assert.deepEqual(first, { results: [1, 2], more: true, next: 2 });
  const last = await tools.json_select(
    { text: "[1,2,3,4,5]", filter: ".[]", limit: 10, from: 4 },
    none,
  );
  assert.deepEqual(last, { results: [5], more: false });
  const long = tools.json_select({ text: "null", filter: "[range(50000)]" }, none);
  await assert.rejects(long, /array of 50000: ask for \.\[\]/);
});

Deno.test("a document is changed and staged in its form, or written in another", async () => {
  const files: Record<string, string> = {
    "desk/c.yaml": "a: 1\nb: [x]\n",
    "desk/p.json": '[{"n":"b"},{"n":"a","m":1}]',
  };
  const staged = await tools.json_transform({
    path: "desk/c.yaml",
    filter: ".a += 1",
    out: "desk/c.yaml",
  }, host(files));
  assert.deepEqual(staged, { format: "yaml", staged: "desk/c.yaml", characters: 14 });
  assert.equal(files["desk/c.yaml"], "a: 2\nb:\n  - x\n");
  const csv = await tools.json_transform({
    path: "desk/p.json",
    filter: "sort_by(.n)[]",
    to: "csv",
  }, host(files));
  assert.equal(csv.text, "n,m\r\na,1\r\nb,\r\n");
  await assert.rejects(
    tools.json_transform({ text: "[1,2]", filter: ".[]" }, none),
    /wrap the filter in \[ \]/,
  );
  await assert.rejects(tools.json_transform({ text: "[1]", to: "toml" }, none), /not an object/);
  await assert.rejects(tools.json_transform({ text: '{"a":null}', to: "toml" }, none), /no null/);
  await assert.rejects(
    tools.json_transform({ text: "[[[1]]]", to: "csv" }, none),
    /a cell holds \[1\]/,
  );
});

Deno.test("a document is checked against a schema in a file", async () => {
  const remit = host({ "desk/s.yaml": "type: object\nrequired: [a]\n", "desk/d.json": "{}" });
  assert.deepEqual(
    await tools.json_validate({ path: "desk/d.json", schemaPath: "desk/s.yaml" }, remit),
    {
      valid: false,
      errors: [{ at: "", rule: "/required", message: 'must have ["a"]' }],
      count: 1,
    },
  );
  await assert.rejects(
    tools.json_validate({ text: "1" }, remit),
    /either `schema` or `schemaPath`/,
  );
  await assert.rejects(
    tools.json_validate({ text: "1", path: "desk/d.json", schema: true }, remit),
    /either `path` or `text`/,
  );
});

for (
  const [form, text, why] of [
    ["json", "{a:1}", /Cannot read the JSON/],
    ["json", '{"a":12345678901234567890}', /would lose digits/],
    ["json", "1e999", /infinite/],
    ["json", "[".repeat(100_000), /nested more than/],
    ["json", '{"a":'.repeat(5_000), /nested more than/],
    ["jsonl", '{"a":1}\n{"a":\n', /in line 2/],
    ["csv", 'a,b\n1,"2', /not closed/],
    ["csv", 'a,b\n1,"2"x', /behind a closing quote/],
    ["csv", "a,b\n1", /row 2 has 1 cells/],
    ["csv", "a,a\n1,2", /there twice/],
    ["yaml", "a: [", /line 1/],
    ["yaml", "a: 1\na: 2", /line 2.*unique/],
    ["yaml", "- ".repeat(5_000), /nested more than/],
    ["yaml", "[".repeat(50_000), /nested more than/],
    ["yaml", "a: 12345678901234567890", /would lose digits/],
    ["yaml", "a: .inf", /infinite/],
    [
      "yaml",
      `a: &a [x,x,x,x,x,x,x,x,x]\n${
        [..."bcdefgh"].map((name, at) =>
          `${name}: &${name} [${Array(9).fill(`*${"abcdefg"[at]}`)}]`
        ).join("\n")
      }`,
      /alias/i,
    ],
    ["toml", "a = ", /line 1/],
    ["toml", "a = 9223372036854775807", /would lose digits/],
    ["toml", `a = ${"[".repeat(5_000)}`, /nested/],
    ["toml", `a${".a".repeat(5_000)} = 1`, /nested more than/],
  ] as const satisfies readonly (readonly [Form, string, RegExp])[]
) {
  Deno.test(`${form} that reads ${JSON.stringify(text.slice(0, 30))} is refused with the reason`, () => {
    assert.throws(() => readForm(form, text, CSV), why);
  });
}

Deno.test("numbers in texts and keys are not numbers, and exact ones keep their digits", () => {
  const text =
    '{"12345678901234567890":"98765432109876543210 \\\\\\" 1","n":9007199254740992,"d":0.30000000000000004}';
  assert.equal(JSON.stringify(readForm("json", text, CSV)), text);
});

const plain = fc.jsonValue({ maxDepth: 3 }).map((value): Json => JSON.parse(JSON.stringify(value)));

Deno.test("any value survives being written and read as JSON, JSON lines and YAML", () => {
  fc.assert(
    fc.property(plain, (value) => {
      for (const form of ["json", "jsonl", "yaml"] as const) {
        const wrapped = form === "jsonl" ? [value] : value;
        assert.deepEqual(
          JSON.stringify(readForm(form, writeForm(form, wrapped, CSV), CSV)),
          JSON.stringify(wrapped),
          form,
        );
      }
    }),
    { numRuns: 300 },
  );
});

Deno.test("a row of one empty cell is a row, and a blank line is none", () => {
  const one = { delimiter: ",", header: false };
  assert.equal(writeCsv([[""], ["a"], [null], ["", ""]], one), '""\r\na\r\n""\r\n,\r\n');
  assert.deepEqual(readCsv('""\n\na\n""\r\n\r\n""', one), [[""], ["a"], [""], [""]]);
  assert.equal(writeCsv([{ n: "" }, { n: null }, { n: 1 }], CSV), 'n\r\n""\r\n""\r\n1\r\n');
  assert.deepEqual(readCsv('n\r\n""\r\n1\r\n', CSV), [{ n: "" }, { n: "1" }]);
});

Deno.test("a row of CSV ends with CR LF, LF or CR", () => {
  const rows = [{ a: "1", b: "x\r\ny" }, { a: "2", b: "" }];
  for (const end of ["\r\n", "\n", "\r"]) {
    const text = ["a,b", '1,"x\r\ny"', "", "2,"].join(end);
    assert.deepEqual(readCsv(text, CSV), rows, JSON.stringify(end));
    assert.deepEqual(readCsv(text + end, CSV), rows, JSON.stringify(end));
  }
  assert.throws(() => readCsv("a,b\n1,x\ry\n", CSV), /row 3 has 1 cells/);
});

Deno.test("any rows of texts survive being written and read as CSV", () => {
  const cell = fc.string({
    unit: fc.constantFrom("a", '"', ",", "\n", "\r", " ", ";", "é"),
    maxLength: 6,
  });
  const rows = fc.array(fc.tuple(cell, cell, cell.map((text) => `${text}x`)), { maxLength: 6 });
  fc.assert(
    fc.property(rows, fc.constantFrom(",", ";", "\t"), (table, delimiter) => {
      const options = { delimiter, header: false };
      assert.deepEqual(readCsv(writeCsv(table, options), options), table);
    }),
    { numRuns: 500 },
  );
});

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
    assert.throws(() => all(filter, input), { name: "Fault" });
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
        assert.equal(error instanceof Error && error.name, "Fault", String(error));
      }
    }),
    { numRuns: 3_000 },
  );
});
