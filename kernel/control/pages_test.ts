import assert from "node:assert/strict";
import { firstPage, makePages } from "./pages.ts";

async function* count(to: number, let_go: { at?: number } = {}): AsyncGenerator<object> {
  let n = 0;
  try {
    for (; n < to; n++) yield await Promise.resolve({ n });
  } finally {
    let_go.at = n;
  }
}

Deno.test("more records than a page holds come all, once and in order", async () => {
  const pages = makePages();
  const all: unknown[] = [];
  let page = await pages.open(count(2_500)) as readonly unknown[];
  assert.ok(page.length < 2_500);
  for (; page.length > 0; page = await pages.next() as readonly unknown[]) all.push(...page);
  assert.deepEqual(all, Array.from({ length: 2_500 }, (_, n) => ({ n })));
  assert.deepEqual(await pages.next(), []);
});

Deno.test("a page of large records ends before a frame is full", async () => {
  const large = async function* (): AsyncGenerator<string> {
    for (let n = 0; n < 30; n++) yield await Promise.resolve("x".repeat(3_000_000));
  };
  const pages = makePages();
  const sizes: number[] = [];
  let page = await pages.open(large()) as readonly string[];
  for (; page.length > 0; page = await pages.next() as readonly string[]) {
    sizes.push(JSON.stringify(page).length);
  }
  assert.ok(sizes.length >= 10 && Math.max(...sizes) < 12_000_000, String(sizes));
  assert.equal((await firstPage(large())).length, 3);
});

Deno.test("who asks something else, or leaves, lets go of what was not read", async () => {
  const pages = makePages();
  const [first, second] = [{} as { at?: number }, {} as { at?: number }];
  await pages.open(count(5_000, first));
  await pages.open(count(5_000, second));
  pages.close();
  await Promise.resolve();
  assert.equal(first.at, 999);
  assert.equal(second.at, 999);
  assert.deepEqual(await pages.next(), []);
});

Deno.test("a reader that fails in the midst is told, and not taken for an end", async () => {
  const broken = async function* (): AsyncGenerator<object> {
    for (let n = 0; n < 1_500; n++) yield await Promise.resolve({ n });
    throw new Error("unreadable");
  };
  const pages = makePages();
  await pages.open(broken());
  await assert.rejects(pages.next(), /unreadable/);
});
