import { equal, match, ok, rejects } from "node:assert/strict";
import { Fault } from "../../contracts/fault.ts";
import type { JsonObject } from "../../contracts/json.ts";
import { sha256Hex } from "../../port/digest.ts";
import { makeRig, type Rig } from "../_fixture/rig.ts";

function fact(result: { value?: unknown }, key: string): unknown {
  return (result.value as JsonObject)[key];
}

const read = (rig: Rig, args: JsonObject = {}) =>
  rig.call("file_read", { path: "desk/f", ...args });

function utf16(text: string, little: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(text.length * 2));
  for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), little);
  return new Uint8Array(view.buffer);
}

Deno.test("a range of lines keeps its line ends, and the version read is told", async () => {
  using rig = makeRig();
  rig.put("f", "one\r\ntwo\nthree");
  const result = await read(rig, { from: 1, to: 2 });
  equal(result.content, "one\r\ntwo\n");
  equal(result.observed, sha256Hex("one\r\ntwo\nthree"));
  equal(fact(result, "lines"), 3);
  equal(fact(result, "end"), false);
  equal((await read(rig, { from: 3 })).content, "three");
  equal((await read(rig, { from: 9 })).content, "");
  await rejects(read(rig, { from: 3, to: 2 }), (e) => e instanceof Fault);
});

Deno.test("an empty file is empty", async () => {
  using rig = makeRig();
  rig.put("f", "");
  const result = await read(rig);
  equal(result.content, "");
  equal(fact(result, "lines"), 0);
});

Deno.test("what does not fit the budget is cut at a line, and says where to go on", async () => {
  using rig = makeRig();
  rig.put("f", "line of text\n".repeat(20_000));
  const result = await read(rig);
  ok(new TextEncoder().encode(result.content).length <= 65_536);
  const next = Number(/go on with from: (\d+)\]$/.exec(result.content)?.[1]);
  equal(fact(result, "to"), next - 1);
  match((await read(rig, { from: next, to: next })).content, /^line of text\n$/);
});

Deno.test("one line longer than the budget is cut between characters", async () => {
  using rig = makeRig();
  rig.put("f", "\u{1f600}".repeat(50_000));
  const { content } = await read(rig);
  ok(new TextEncoder().encode(content).length <= 65_536);
  ok(content.isWellFormed());
  match(content, /\[cut: /);
});

for (const [name, little] of [["utf-16le", true], ["utf-16be", false]] as const) {
  Deno.test(`${name} is read, searched, and edited as what it was`, async () => {
    using rig = makeRig();
    rig.put("f", utf16("\ufeffh\u00e9llo\nworld\n", little));
    const result = await read(rig);
    equal(result.content, "h\u00e9llo\nworld\n");
    equal(fact(result, "encoding"), name);
    match((await rig.call("file_search", { query: "world" })).content, /f:2: world/);
    await rig.call("file_edit", { path: "desk/f", old: "world", new: "w\u00f6rld" });
    await rig.call("patch_apply", {});
    const expected = utf16("\ufeffh\u00e9llo\nw\u00f6rld\n", little);
    equal(sha256Hex(Deno.readFileSync(`${rig.desk}/f`)), sha256Hex(expected));
  });
}

Deno.test("a UTF-8 mark is not shown, and survives an edit", async () => {
  using rig = makeRig();
  rig.put("f", "\ufeffa b");
  equal((await read(rig)).content, "a b");
  await rig.call("file_edit", { path: "desk/f", old: "b", new: "c" });
  await rig.call("patch_apply", {});
  equal(sha256Hex(Deno.readFileSync(`${rig.desk}/f`)), sha256Hex("\ufeffa c"));
});

Deno.test("binary and 8-bit text are told apart, shown as hex, and not edited", async () => {
  using rig = makeRig();
  rig.put("f", new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]));
  const binary = await read(rig);
  match(binary.content, /binary[\s\S]*00000000 {2}7f 45 4c 46 00 01 02 +\.ELF\.\.\./);
  equal(fact(binary, "encoding"), "binary");
  rig.put("f", new Uint8Array([0x63, 0x61, 0x66, 0xe9]));
  equal(fact(await read(rig), "encoding"), "latin-1");
  await rejects(
    rig.call("file_edit", { path: "desk/f", old: "ca", new: "x" }),
    (e) => e instanceof Fault,
  );
});

Deno.test("a file of 40 MB is read by windows, no further than asked", async () => {
  using rig = makeRig();
  rig.put("f", `${"x".repeat(99)}\n`.repeat(400_000));
  const result = await read(rig, { from: 399_999, to: 400_000 });
  equal(result.content, `${"x".repeat(99)}\n`.repeat(2));
  match((await read(rig)).content, /\[cut: /);
  match((await rig.call("file_search", { query: "xx", limit: 3 })).content, /^desk\/f:1: xx/);
  await rejects(
    rig.call("file_write", { path: "desk/f", content: "" }),
    (e) => e instanceof Fault && e.code === "tooLarge",
  );
});

Deno.test("a search finds text on both sides of a window's edge, with its line", async () => {
  using rig = makeRig();
  const line = `${"x".repeat(1_000)}\n`;
  rig.put("f", `${line.repeat(1_047)}${"y".repeat(900)}NEEDLE\n${line.repeat(10)}needle\n`);
  match((await rig.call("file_search", { query: "NEEDLE" })).content, /f:1048: .*NEEDLE$/);
  const both = await rig.call("file_search", { query: "Needle", ignoreCase: true });
  match(both.content, /f:1048: [\s\S]*f:1059: needle/);
});

Deno.test("a search is literal, bounded, filtered by glob, and passes over binary files", async () => {
  using rig = makeRig();
  rig.put("a.md", "x.*y\nxzzy\n");
  rig.put("src/b.ts", "x.*y\n".repeat(500));
  rig.put("bin", new Uint8Array([0, 120, 46, 42, 121]));
  rig.put(".git/config", "x.*y");
  equal(
    (await rig.call("file_search", { query: "x.*y", glob: "*.md" })).content,
    "desk/a.md:1: x.*y",
  );
  const all = await rig.call("file_search", { query: "x.*y", limit: 10 });
  equal(fact(all, "lines"), 10);
  match(all.content, /more than 10 lines/);
  ok(!all.content.includes("desk/bin") && !all.content.includes(".git"));
  const below = await rig.call("file_search", {
    query: "x.*y",
    path: "desk/src",
    glob: "*.ts",
    limit: 1,
  });
  match(below.content, /^desk\/src\/b\.ts:1: /);
  equal(
    (await rig.call("file_search", { query: "zz", path: "desk/a.md" })).content,
    "desk/a.md:2: xzzy",
  );
});

Deno.test("a long search is cancelled between files", async () => {
  using rig = makeRig();
  for (let i = 0; i < 1_100; i++) rig.put(`f${i}`, "x");
  const grant = rig.grant("file_search", { query: "y" });
  const abort = new AbortController();
  const host = rig.hostPort;
  const running = rig.binding("file_search").invoke(grant, abort.signal);
  host.tell("cancel", { id: `${grant.pid}-${grant.callId}` });
  await rejects(running, (e) => e instanceof Fault && e.code === "cancelled");
});
