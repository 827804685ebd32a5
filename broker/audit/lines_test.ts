import assert from "node:assert/strict";
import { makeMemoryStore } from "./_fixture/memory_store.ts";
import { ALICE, fillSmallLog, TASKS } from "./_fixture/small_log.ts";
import { exportLog, readLines, verifyLines, type VerifyReport } from "./mod.ts";

const PUBLIC = { publicKey: ALICE.publicKey };

async function exported(): Promise<
  { readonly lines: readonly string[]; readonly bytes: Uint8Array }
> {
  const store = makeMemoryStore();
  await fillSmallLog(store);
  const lines = await Array.fromAsync(exportLog(store));
  return { lines, bytes: new TextEncoder().encode(lines.join("\n") + "\n") };
}

/** What a program that reads a file does: undecodable bytes are a failure like any other. */
async function checkBytes(bytes: Uint8Array): Promise<VerifyReport | undefined> {
  try {
    return await verifyLines(readLines([bytes]), PUBLIC);
  } catch (error) {
    assert.ok(error instanceof TypeError);
    return undefined;
  }
}

Deno.test("lines: an export verifies with the code that checks a store", async () => {
  const { lines, bytes } = await exported();
  const report = await verifyLines(lines, PUBLIC);
  assert.deepEqual([report.ok, report.events, report.tail], [true, 12, "unchecked"]);
  assert.equal((await verifyLines(lines, { ...PUBLIC, head: report.head })).tail, "intact");
  assert.equal((await checkBytes(bytes))?.ok, true);
  const store = makeMemoryStore();
  await fillSmallLog(store);
  await store.eraseBlobs(TASKS[0]);
  const erased = await verifyLines(exportLog(store), PUBLIC);
  assert.deepEqual([erased.ok, erased.contents.unexplained], [true, 2]);
});

Deno.test("lines: no byte of an export can be changed, and the first bad line is named", async () => {
  const { bytes } = await exported();
  const passed: string[] = [];
  let line = 0;
  for (let at = 0; at < bytes.length; at++) {
    for (const mask of [1 << (at % 8), 0x2a]) {
      const flipped = bytes.slice();
      flipped[at] = (flipped[at] ?? 0) ^ mask;
      const report = await checkBytes(flipped);
      const named = report?.bad?.seq === Math.max(line, 1) || report === undefined;
      if (report?.ok === true || !named) {
        passed.push(`${at} ${JSON.stringify(report?.bad)} ${line}`);
      }
    }
    if (bytes[at] === 10) line++;
  }
  assert.deepEqual(passed.slice(0, 5), []);
});

Deno.test("lines: other layouts of the same values are changes", async () => {
  const { lines } = await exported();
  const second = lines[1] ?? "";
  for (
    const other of [
      ` ${second}`,
      second.replace('"seq":1', '"seq":1.0'),
      second.replace('"kernel"', '"\\u006bernel"'),
      second.replace("{", '{"seq":1,'),
      second.replace(/}$/, ',"more":1}'),
      JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(second)).toReversed())),
      "",
      "null",
    ]
  ) {
    assert.notEqual(other, second);
    const { bad } = await verifyLines(lines.with(1, other), PUBLIC);
    assert.deepEqual([bad?.flaw, bad?.seq], ["unreadable", 1], other);
  }
  for (const start of ["", '{"remit":"log","version":2}']) {
    assert.equal((await verifyLines(lines.with(0, start), PUBLIC)).bad?.flaw, "unreadable");
  }
  assert.equal((await verifyLines([], PUBLIC)).ok, false);
});

Deno.test("lines: bytes are cut into lines wherever the chunks end", async () => {
  const { lines, bytes } = await exported();
  for (const size of [1, 7, 4_096]) {
    const chunks = Array.from(
      { length: Math.ceil(bytes.length / size) },
      (_, i) => bytes.subarray(i * size, (i + 1) * size),
    );
    assert.deepEqual(await Array.fromAsync(readLines(chunks)), lines);
  }
});
