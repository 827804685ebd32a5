import { equal, match, ok, rejects } from "node:assert/strict";
import fc from "fast-check";
import { Fault } from "../../contracts/base/fault.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import { sha256Hex } from "../../port/digest.ts";
import { makeRig, type Rig } from "../_fixture/rig.ts";
import { findPassage } from "./passage.ts";

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

Deno.test("a disk image is passed over at its first NUL, and what was passed over is counted", async () => {
  using rig = makeRig();
  rig.put("a.txt", "needle");
  rig.put("z.txt", "needle");
  Deno.writeTextFileSync(`${rig.desk}/disk.img`, "");
  Deno.truncateSync(`${rig.desk}/disk.img`, 1 << 40);
  const found = await rig.call("file_search", { query: "needle" });
  match(found.content, /desk\/a\.txt:1: needle\ndesk\/z\.txt:1: needle\n\[1 binary files/);
  const named = await rig.call("file_search", { query: "needle", path: "desk/disk.img" });
  match(named.content, /1 binary files were passed over/);
});

Deno.test("a search whose time is up gives what it has, and names where it stopped", async () => {
  let now = 0;
  // Each look at the clock is a hundred seconds later, and 16 MiB of a file lie between two of them.
  using rig = makeRig({ now: () => now += 100_000 });
  rig.put("a.txt", "needle\n");
  rig.put("b.txt", `${"x".repeat(99)}\n`.repeat(200_000));
  rig.put("c.txt", "needle\n");
  const found = await rig.call("file_search", { query: "needle" });
  match(found.content, /^desk\/a\.txt:1: needle\n\[the time was up at desk\/b\.txt after 2 files/);
  equal(fact(found, "cut"), true);
  ok(!found.content.includes("c.txt"));
});

Deno.test("folders deeper than a path can name are said, by a search and by a list", async () => {
  using rig = makeRig();
  let deep = rig.desk;
  for (let i = 0; i < 70; i++) Deno.mkdirSync(deep += "/d");
  Deno.writeTextFileSync(`${deep}/bottom.txt`, "needle");
  match(
    (await rig.call("file_search", { query: "needle" })).content,
    /1 folders lie deeper than 64 levels/,
  );
  const path = `desk${"/d".repeat(60)}`;
  match((await rig.call("file_list", { path, depth: 16 })).content, /1 folders lie deeper/);
  ok(!(await rig.call("file_list", { path: "desk", depth: 2 })).content.includes("deeper"));
});

Deno.test("lines near the end of a large file are read without decoding what comes before", async () => {
  using rig = makeRig();
  // No UTF-8, in a line that nobody asked for.
  const line = new Uint8Array(100).fill(0xe9);
  line[99] = 10;
  const bytes = new Uint8Array(20_000_000);
  for (let at = 0; at < bytes.length; at += line.length) bytes.set(line, at);
  bytes.set(new TextEncoder().encode("\nthe end\n"), bytes.length - 9);
  rig.put("f", bytes);
  const lines = (await rig.call("file_read", { path: "desk/f", from: 200_001 })).content;
  equal(lines, "the end\n");
});

Deno.test("a name is found in its other Unicode form, and a write makes no twin of it", async () => {
  using rig = makeRig();
  const composed = "\u00dcber/Gr\u00f6\u00dfe.md", onDisk = composed.normalize("NFD");
  rig.put(onDisk, "eins\n");
  equal((await rig.call("file_read", { path: `desk/${composed}` })).content, "eins\n");
  match((await rig.call("file_stat", { path: `desk/${composed}` })).content, /kind: file/);
  const edit = { path: `desk/${composed}`, old: "eins", new: "zwei" };
  match((await rig.call("file_edit", edit)).content, /in another Unicode form/);
  equal((await rig.call("file_read", { path: `desk/${composed}` })).content, "zwei\n");
  await rig.call("file_write", { path: `desk/${composed}`, content: "drei\n" });
  equal(rig.workspace.overlay().map(({ path }) => path).join(), `desk/${onDisk}`);
  await rig.call("patch_apply", {});
  equal(rig.text(onDisk), "drei\n");
  equal([...Deno.readDirSync(`${rig.desk}/${onDisk.slice(0, onDisk.indexOf("/"))}`)].length, 1);
});

const edited = async (text: string, old: string, next: string): Promise<[string, string]> => {
  using rig = makeRig();
  rig.put("f", text);
  const { content } = await rig.call("file_edit", { path: "desk/f", old, new: next });
  return [(await rig.call("file_read", { path: "desk/f" })).content, content];
};

Deno.test("an edit in LF fits a file with CRLF, whose line ends are kept", async () => {
  const file = "one\r\ntwo\r\nthree\r\nfour";
  equal((await edited(file, "one\ntwo\n", "1\n2\n3\n"))[0], "1\r\n2\r\n3\r\nthree\r\nfour");
  equal((await edited(file, "two", "2\n2"))[0], "one\r\n2\r\n2\r\nthree\r\nfour");
  equal((await edited(file, "\nthree\nfour", "\nend\nfour"))[0], "one\r\ntwo\r\nend\r\nfour");
  equal((await edited("a\nb\nc\n", "a\r\nb", "x\r\ny"))[0], "x\ny\nc\n");
  await rejects(edited("a\r\nb\r\na\r\nb\r\n", "a\nb", "x"), /line 1 and at line 3/);
  const [mixed, said] = await edited("a\r\nb\nc\r\n", "b\n", "x\ny\n");
  equal(mixed, "a\r\nx\ny\nc\r\n");
  match(said, /line ends are mixed: 2 CRLF, 2 LF/);
});

Deno.test("every edit of a file in LF is the edit of the file in CRLF with its ends", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "ab", ""), { minLength: 2, maxLength: 8 });
  fc.assert(
    fc.property(lines, fc.nat(), fc.nat(), lines, (all, from, more, put) => {
      const start = from % all.length, end = start + 1 + more % (all.length - start);
      const old = all.slice(start, end).join("\n"), text = all.join("\n");
      fc.pre(old !== "" && text.indexOf(old) === text.lastIndexOf(old));
      const plain = findPassage(text, old, put.join("\n"));
      const crlf = findPassage(text.replaceAll("\n", "\r\n"), old, put.join("\n"));
      fc.pre(!("why" in plain) && !("why" in crlf));
      if ("why" in plain || "why" in crlf) return;
      const apply = (whole: string, { at, length, next }: typeof plain): string =>
        whole.slice(0, at) + next + whole.slice(at + length);
      const expected = apply(text, plain).replaceAll("\n", "\r\n");
      // Without any line end in the file there is none to keep.
      if (text.includes("\n")) equal(apply(text.replaceAll("\n", "\r\n"), crlf), expected);
    }),
  );
});

for (
  const [differs, text, old] of [
    ["tabs and spaces", "x\n\tif (a)  {\n", "    if (a) {"],
    ["spaces at the ends of lines", "a  \nb\n", "a\nb"],
    ["how far lines are indented", "def f():\n    return 1\n", "def f():\nreturn 1"],
    ["letters that look alike", "x\n\u201cyes\u201d \u2014 he said\n", '"yes" - he said'],
    ["letters that look alike", "a\u00a0b\u200bc\n", "a bc"],
    ["upper and lower case", "Hello World\n", "hello world"],
  ] as const
) {
  Deno.test(`an edit that nearly fits names the line and ${differs}: ${JSON.stringify(text)}`, async () => {
    await rejects(edited(text, old, "z"), (error) => {
      ok(error instanceof Fault && error.code === "conflict");
      match(error.message, /line \d+ differs from it only in/);
      ok(error.message.includes(differs), error.message);
      return true;
    });
  });
}
