import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { textInstance, valueOf } from "./_fixture/text_plugin.ts";

/** Lines with their ends; the last may have none. */
const full = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Applies a unified diff with no tolerance at all: every line must be where the diff says. */
function applied(old: string, diff: string): string {
  const lines = full(old);
  const out: string[] = [];
  let at = 0;
  const body = diff.split("\n").slice(2);
  body.pop();
  for (let i = 0; i < body.length;) {
    const header = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(body[i++] ?? "");
    ok(header !== null, `a hunk begins: ${body[i - 1]}`);
    const [from = 0, count = 0, to = 0, added = 0] = header.slice(1).map(Number);
    const start = count === 0 ? from : from - 1;
    out.push(...lines.slice(at, start));
    at = start;
    strictEqual(out.length, added === 0 ? to : to - 1, "the place in the new text");
    let [left, right] = [count, added];
    while (left > 0 || right > 0) {
      const [sign, text] = [body[i]?.[0], body[i]?.slice(1)];
      i++;
      const open = body[i] === "\\ No newline at end of file";
      const line = `${text}${open ? "" : "\n"}`;
      if (open) i++;
      if (sign !== "+") {
        strictEqual(lines[at++], line);
        left--;
      }
      if (sign !== "-") {
        out.push(line);
        right--;
      }
      ok(sign === " " || sign === "+" || sign === "-", `a line of a hunk: ${body[i]}`);
    }
  }
  return [...out, ...lines.slice(at)].join("");
}

/** Lines that two texts share in order, at most. */
function commonLines(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const line of a) {
    const next = [0];
    b.forEach((other, j) =>
      next.push(line === other ? (row[j] ?? 0) + 1 : Math.max(row[j + 1] ?? 0, next[j] ?? 0))
    );
    row = next;
  }
  return row[b.length] ?? 0;
}

const text = fc.stringMatching(/^[abc\r\n]{0,40}$/);

Deno.test("a diff applied to the old text gives the new one, and is the shortest there is", async () => {
  const call = await textInstance();
  await fc.assert(
    fc.asyncProperty(text, text, fc.integer({ min: 0, max: 4 }), async (old, fresh, context) => {
      const { value } = await call("text_diff", { text: old, newText: fresh, context });
      if (old === fresh) return deepStrictEqual(value, { diff: "", added: 0, removed: 0 });
      strictEqual(applied(old, value.diff), fresh);
      const common = commonLines(full(old), full(fresh));
      deepStrictEqual([value.removed, value.added], [
        full(old).length - common,
        full(fresh).length - common,
      ]);
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("a diff names its files and shows as much around changes as asked", async () => {
  const files = { "desk/a": "1\n2\n3\n4\n5\n6\n7\n", "desk/b": "1\n2\n3\nX\n5\n6\n7" };
  const { diff } = await valueOf(
    "text_diff",
    { path: "desk/a", newPath: "desk/b", context: 1 },
    files,
  );
  strictEqual(
    diff,
    "--- desk/a\n+++ desk/b\n@@ -3,5 +3,5 @@\n 3\n-4\n+X\n 5\n 6\n-7\n+7\n\\ No newline at end of file\n",
  );
});

Deno.test("texts that differ everywhere are compared within bounds, and the diff still applies", async () => {
  const many = (seed: number): string =>
    Array.from({ length: 2_600 }, (_, i) => `${(i * seed) % 997}\n`).join("");
  const [old, fresh] = [many(7), many(11)];
  const { diff, cut } = await valueOf("text_diff", { text: old, newText: fresh, context: 0 });
  strictEqual(cut, undefined);
  strictEqual(applied(old, diff), fresh);
});

Deno.test("two large files with nothing in common end in time, with whole hunks or none", async () => {
  const a = Array.from({ length: 199_000 }, (_, i) => `a${i}\n`).join("");
  const b = Array.from({ length: 199_000 }, (_, i) => `b${i}\n`).join("");
  const value = await valueOf("text_diff", { path: "a", newPath: "b" }, { a, b });
  deepStrictEqual([value.added, value.removed, value.cut], [199_000, 199_000, true]);
  strictEqual(value.diff, "--- a\n+++ b\n");
});

Deno.test("a diff that is too long keeps its first hunks whole", async () => {
  const old = Array.from({ length: 60_000 }, (_, i) => `${i}\n`);
  const fresh = old.map((line, i) => i % 50 === 0 ? `changed ${line}` : line);
  const value = await valueOf("text_diff", { path: "a", newPath: "b" }, {
    a: old.join(""),
    b: fresh.join(""),
  });
  deepStrictEqual([value.added, value.removed, value.cut], [1_200, 1_200, true]);
  const hunks = value.diff.match(/^@@/gm).length;
  const partly = [...fresh.slice(0, hunks * 50), ...old.slice(hunks * 50)].join("");
  strictEqual(applied(old.join(""), value.diff), partly);
});

Deno.test("a diff of bytes that are no UTF-8 says that it cannot be applied", async () => {
  const files = { a: new Uint8Array([0x61, 0xff, 0x0a]), b: new Uint8Array([0x61, 0x0a]) };
  const value = await valueOf("text_diff", { path: "a", newPath: "b" }, files);
  deepStrictEqual([value.lossy, value.diff], [
    true,
    "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-a\ufffd\n+a\n",
  ]);
});
