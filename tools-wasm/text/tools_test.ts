import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { Buffer, isUtf8 } from "node:buffer";
import fc from "fast-check";
import { callText, textInstance, valueOf } from "./_fixture/text_plugin.ts";

const MANY = { numRuns: 300 };
const encoder = new TextEncoder();
/** Lines as an editor sees them: without their ends, and none behind the last newline. */
const linesOf = (text: string): string[] =>
  text === "" ? [] : text.replace(/\n$/, "").split("\n").map((line) => line.replace(/\r$/, ""));
const small = fc.stringMatching(/^[ab1 ,\r\n\u00e9]{0,50}$/);
const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

const ALL = ["search", "head", "tail", "count", "sort", "unique", "cut", "outline"];
const NEEDED: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  search: { query: "a" },
  cut: { fields: "1" },
};

Deno.test("every tool wants either a file or a text, and tells what the host refuses", async () => {
  for (const name of ALL) {
    const given = NEEDED[name] ?? {};
    const both = await callText(`text_${name}`, { ...given, path: "f", text: "a" }, { f: "a" });
    const neither = await callText(`text_${name}`, given);
    const missing = await callText(`text_${name}`, { ...given, path: "no" });
    const number = await callText(`text_${name}`, { ...given, text: 7 });
    deepStrictEqual(
      [both, neither, missing, number].map(({ error }) => error?.code),
      ["invalidArguments", "invalidArguments", "notFound", "invalidArguments"],
      name,
    );
  }
});

Deno.test("every tool takes an empty file", async () => {
  for (const name of ALL) {
    const { error } = await callText(`text_${name}`, { ...NEEDED[name], path: "f" }, { f: "" });
    strictEqual(error, undefined, name);
  }
});

Deno.test("a number out of bounds is refused, also where no schema stood before", async () => {
  for (const lines of [0, -1, 1.5, 5_001, "7"]) {
    strictEqual(
      (await callText("text_head", { text: "a", lines })).error?.code,
      "invalidArguments",
    );
  }
});

Deno.test("a file that grows while it is read is a conflict, and not a wrong answer", async () => {
  const call = await textInstance();
  const bytes = new Uint8Array(2_000_000).fill(0x61);
  const growing = new Proxy(bytes, {
    get: (_target, key) =>
      key === "length"
        ? sizes.shift() ?? bytes.length
        : key === "subarray"
        ? bytes.subarray.bind(bytes)
        : undefined,
  });
  const sizes = [1_900_000, 1_900_000, 2_000_000];
  strictEqual((await call("text_count", {}, growing)).error?.code, "conflict");
});

Deno.test("text_head shows lines from any line on and says whether more follow", async () => {
  const text = "1\n2\r\n3\n";
  deepStrictEqual(await valueOf("text_head", { text, lines: 2 }), {
    from: 1,
    lines: 2,
    text: "1\n2\n",
    more: true,
  });
  deepStrictEqual(await valueOf("text_head", { text, from: 3 }), {
    from: 3,
    lines: 1,
    text: "3\n",
    more: false,
  });
  deepStrictEqual(await valueOf("text_head", { text, from: 9 }), {
    from: 9,
    lines: 0,
    text: "",
    more: false,
  });
});

Deno.test("text_tail shows the last lines, and reads no more of a large file than it may show", async () => {
  deepStrictEqual(await valueOf("text_tail", { text: "1\n2\n3", lines: 2 }), {
    lines: 2,
    text: "2\n3\n",
    more: true,
  });
  deepStrictEqual(await valueOf("text_tail", { text: "1\n2\n", lines: 9 }), {
    lines: 2,
    text: "1\n2\n",
    more: false,
  });
  const f = Array.from({ length: 900_000 }, (_, i) => `line ${i}\n`).join("");
  const { value, readBytes } = await callText("text_tail", { path: "f", lines: 3 }, { f });
  deepStrictEqual(value, { lines: 3, text: "line 899997\nline 899998\nline 899999\n", more: true });
  ok(readBytes < 300_000, `${readBytes} bytes`);
});

Deno.test("text_head and text_tail give what a plain slice gives", async () => {
  const call = await textInstance();
  await fc.assert(
    fc.asyncProperty(small, fc.integer({ min: 1, max: 6 }), async (text, lines) => {
      const all = linesOf(text);
      const { value: first } = await call("text_head", { lines }, encoder.encode(text));
      deepStrictEqual(first, {
        from: 1,
        lines: Math.min(lines, all.length),
        text: joined(all.slice(0, lines)),
        more: all.length > lines,
      });
      const { value: last } = await call("text_tail", { lines }, encoder.encode(text));
      deepStrictEqual([last.text, last.more], [joined(all.slice(-lines)), all.length > lines]);
    }),
    MANY,
  );
});

Deno.test("a text that is too long to show is cut at a whole character, and says so", async () => {
  const f = "ä".repeat(2_000_000);
  for (const tool of ["text_head", "text_tail"]) {
    const value = await valueOf(tool, { path: "f" }, { f });
    deepStrictEqual([value.cut, value.text.length > 20_000], [true, true], tool);
    ok(JSON.stringify(value).length < 65_536 && /^.?ä+\n$/.test(value.text), tool);
  }
});

/** Characters as the tools count them: each byte that is not UTF-8 is one. */
function characters(bytes: Uint8Array): { count: number; invalid: number } {
  let [count, invalid] = [0, 0];
  for (let at = 0; at < bytes.length; count++) {
    const size = [1, 2, 3, 4].find((n) =>
      at + n <= bytes.length && isUtf8(bytes.subarray(at, at + n))
    );
    if (size === undefined) invalid++;
    at += size ?? 1;
  }
  return { count, invalid };
}

Deno.test("text_count counts any bytes as a plain count does", async () => {
  const call = await textInstance();
  const byte = fc.constantFrom(0, 10, 13, 32, 0x61, 0x80, 0xa4, 0xc3, 0xe2, 0xed, 0xf0, 0x9f, 0xff);
  await fc.assert(
    fc.asyncProperty(fc.array(byte, { maxLength: 40 }), async (list) => {
      const bytes = Uint8Array.from(list);
      const { value } = await call("text_count", {}, bytes);
      const { count, invalid } = characters(bytes);
      const text = Buffer.from(bytes).toString("latin1");
      const open = text !== "" && !text.endsWith("\n");
      deepStrictEqual(value, {
        lines: text.split("\n").length - 1 + Number(open),
        words: text.split(/[\t-\r ]+/).filter((word) => word !== "").length,
        bytes: bytes.length,
        characters: count,
        ...(open ? { noFinalNewline: true } : {}),
        ...(invalid > 0 ? { invalidBytes: invalid } : {}),
      });
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("a character on the border of two pieces is counted once", async () => {
  for (const lead of ["", "a", "ab", "abc"]) {
    const f = lead + "🙂".repeat(400_000);
    const value = await valueOf("text_count", { path: "f" }, { f });
    deepStrictEqual([value.characters, value.invalidBytes], [lead.length + 400_000, undefined]);
  }
});

Deno.test("text_sort is a stable sort by bytes, numbers or fields, in both directions", async () => {
  const call = await textInstance();
  const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
  const fieldOf = (line: string, n: number): string =>
    line.split(/[ \t]+/).filter((x) => x !== "")[n - 1] ?? "";
  const number = (key: string): number => {
    const value = parseFloat(key);
    return Number.isNaN(value) ? -Infinity : value;
  };
  await fc.assert(
    fc.asyncProperty(
      fc.stringMatching(/^[ab1279 .\n\u00e9-]{0,80}$/),
      fc.record({
        field: fc.constantFrom(undefined, 1, 2),
        numeric: fc.boolean(),
        reverse: fc.boolean(),
      }),
      async (text, { field, numeric, reverse }) => {
        const options = { numeric, reverse, ...(field === undefined ? {} : { field }) };
        const { value } = await call("text_sort", options, encoder.encode(text));
        const key = (line: string): string => field === undefined ? line : fieldOf(line, field);
        const sorted = linesOf(text).sort((a, b) => {
          const [x, y] = [number(key(a)), number(key(b))];
          const order = numeric ? (x < y ? -1 : x > y ? 1 : 0) : compare(key(a), key(b));
          return reverse ? -order : order;
        });
        deepStrictEqual(value, { lines: sorted.length, text: joined(sorted) });
      },
    ),
    MANY,
  );
});

Deno.test("text_sort takes a named delimiter, empty fields included", async () => {
  const text = "a::3\nb::1\nc\nd::2\n";
  deepStrictEqual(
    (await valueOf("text_sort", { text, field: 2, delimiter: "::" })).text,
    "c\nb::1\nd::2\na::3\n",
  );
});

Deno.test("what is too large to sort or compare is refused by size, before it is read", async () => {
  const f = new Uint8Array(8_388_609).fill(0x61);
  for (const [tool, args] of [["text_sort", {}], ["text_diff", { newText: "" }]] as const) {
    const { error, readBytes } = await callText(tool, { ...args, path: "f" }, { f });
    strictEqual(error?.code, "tooLarge", tool);
    ok(readBytes < 1_000_000, `${readBytes} bytes`);
  }
  const lines = new Uint8Array(500_001).fill(0x0a);
  strictEqual((await callText("text_sort", { path: "f" }, { f: lines })).error?.code, "tooLarge");
});

Deno.test("the largest texts are sorted again and again within the plugin's memory", async () => {
  const call = await textInstance();
  const f = encoder.encode(
    Array.from({ length: 490_000 }, (_, i) => `${(i * 7919) % 490_000} abcdefg`).join("\n"),
  );
  for (let round = 0; round < 4; round++) {
    const { value, error } = await call("text_sort", { numeric: true, limit: 2 }, f);
    strictEqual(error, undefined);
    deepStrictEqual([value.lines, value.text, value.cut], [
      490_000,
      "0 abcdefg\n1 abcdefg\n",
      true,
    ]);
  }
});

Deno.test("a file of any size is read within the plugin's memory", async () => {
  const piece = encoder.encode("alpha beta\n".repeat(71_494)).subarray(0, 786_432);
  // A file of 200 MiB that nobody has to make: every piece of it is the same.
  const size = 200 * 1024 * 1024;
  const huge = {
    length: size,
    subarray: (from: number) =>
      from < size ? piece.subarray(0, Math.min(piece.length, size - from)) : piece.subarray(0, 0),
  };
  const call = await textInstance();
  const { value, error } = await call("text_search", { query: "gamma" }, huge);
  deepStrictEqual([value, error], [{ count: 0, matches: [] }, undefined]);
});

Deno.test("text_unique counts lines as a map does, in order of appearance or by count", async () => {
  const call = await textInstance();
  await fc.assert(
    fc.asyncProperty(small, fc.boolean(), async (text, byCount) => {
      const counts = new Map<string, number>();
      for (const line of linesOf(text)) counts.set(line, (counts.get(line) ?? 0) + 1);
      const found = [...counts].map(([text, count]) => ({ count, text }));
      if (byCount) found.sort((a, b) => b.count - a.count);
      const { value } = await call("text_unique", { byCount }, encoder.encode(text));
      deepStrictEqual(value, { lines: linesOf(text).length, unique: found.length, found });
    }),
    MANY,
  );
});

Deno.test("text_unique takes a large file of few lines and refuses too many different ones", async () => {
  const few = "alpha\nbeta\n".repeat(400_000);
  const value = await valueOf("text_unique", { path: "f" }, { f: few });
  deepStrictEqual(value.found, [{ count: 400_000, text: "alpha" }, {
    count: 400_000,
    text: "beta",
  }]);
  const many = Array.from({ length: 500_002 }, (_, i) => i.toString(36)).join("\n");
  strictEqual((await callText("text_unique", { path: "f" }, { f: many })).error?.code, "tooLarge");
});

Deno.test("text_cut takes fields as a plain split does", async () => {
  const call = await textInstance();
  const lists: readonly [string, (n: number) => boolean][] = [
    ["1", (n) => n === 1],
    ["2-", (n) => n >= 2],
    ["-2", (n) => n <= 2],
    ["1,3", (n) => n === 1 || n === 3],
    ["3-4,1", (n) => n !== 2 && n <= 4],
  ];
  await fc.assert(
    fc.asyncProperty(small, fc.constantFrom(...lists), async (text, [fields, has]) => {
      const wanted = linesOf(text).map((line) =>
        line.includes(",") ? line.split(",").filter((_, i) => has(i + 1)).join(",") : line
      );
      const byField = await call("text_cut", { fields, delimiter: "," }, encoder.encode(text));
      deepStrictEqual(byField.value, { lines: wanted.length, text: joined(wanted) });
      const cut = linesOf(text).map((line) => [...line].filter((_, i) => has(i + 1)).join(""));
      const byCharacter = await call("text_cut", { characters: fields }, encoder.encode(text));
      deepStrictEqual(byCharacter.value, { lines: cut.length, text: joined(cut) });
    }),
    MANY,
  );
});

Deno.test("text_cut refuses a list that is none, and fields together with characters", async () => {
  for (const fields of ["", "0", "a", "1,", "3-2", "1--2", "1;2", "-"]) {
    const { error } = await callText("text_cut", { text: "a", fields });
    strictEqual(error?.code, "invalidArguments", fields);
  }
  const both = await callText("text_cut", { text: "a", fields: "1", characters: "1" });
  strictEqual(both.error?.code, "invalidArguments");
});
