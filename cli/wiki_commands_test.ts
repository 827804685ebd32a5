import assert from "node:assert/strict";
import { join } from "node:path";
import { createPublicKey, verify } from "node:crypto";
import { type Json, PageMark, pageMarkText } from "../contracts/mod.ts";
import { runCommandLine } from "./dispatch.ts";
import { fakeHands, fakeKeyboard } from "./_fixture_test.ts";
import { EMPTY_WIKI, fakeWikis, type WikiOps } from "./_wiki_fixture_test.ts";
import type { WikiHands } from "./wiki_hands.ts";

const D = "a".repeat(64);
const NOW = 1_700_000_000_000;
const PAGE = {
  ...{ name: "lease", kind: "concept", title: "Lease", aliases: [], version: 3, digest: D },
  ...{ bytes: 1, lines: 2, label: "secret", colour: "RED", confidence: "low", sources: [] },
  ...{ author: "model:x", freshAt: NOW, createdAt: NOW, updatedAt: NOW },
};
const PATCH = {
  ...{ id: "w000000000001", author: "task:t1", reason: "new words", changes: [], colour: "YELLOW" },
  ...{ label: "internal", state: "proposed", createdAt: NOW },
};
const REPORT = { added: 0, changed: 0, unchanged: 0, failed: [] };
const HIT = {
  ...{ kind: "source", file: "raw/lease.md", startLine: 31, endLine: 32, title: "Leases" },
  ...{ text: "A lease is a \x1b[2Jright\nthat ends.", headings: ["Leases", "What"], digest: D },
  ...{ origin: "/docs/lease.md", score: 1, colour: "RED", label: "internal", stale: false },
};
const SEARCHED = { pages: 1, sources: 2, passages: 3, terms: ["lease"], vectors: false };

interface Parts {
  readonly ops: WikiOps;
  readonly types?: readonly string[];
  readonly input?: string;
  readonly fetch?: WikiHands["fetch"];
  readonly edit?: (file: string) => number;
  readonly env?: Readonly<Record<string, string>>;
}

async function rig(parts: Parts) {
  const { ops, types, fetch, edit } = parts;
  const wikis = fakeWikis({
    ops: {
      status: () => EMPTY_WIKI,
      extract: () => ({ written: [], unchanged: 0, conflicts: [] }),
      ...ops,
    },
    input: new TextEncoder().encode(parts.input ?? ""),
    ...(fetch === undefined ? {} : { fetch }),
    ...(edit === undefined ? {} : { edit }),
  });
  const hands = fakeHands({
    wikis,
    ...(types === undefined ? {} : { keyboard: fakeKeyboard(types) }),
    ...(parts.env === undefined ? {} : { env: parts.env }),
  });
  assert.equal(await runCommandLine(["wiki", "init", "w"], hands), 0);
  hands.screen.outs.splice(0);
  hands.screen.lines.splice(0);
  return {
    ...{ hands, wikis },
    run: (...argv: string[]) => runCommandLine(["wiki", ...argv], hands),
    asked: (op: string) => wikis.seen.asked.filter(([each]) => each === op).map(([, body]) => body),
    out: () => hands.screen.outs.join(""),
    said: () => hands.screen.lines.join("\n"),
    work: (name: string, text = name): void => {
      const path = join(hands.around.cwd, name);
      Deno.mkdirSync(join(path, ".."), { recursive: true });
      Deno.writeTextFileSync(path, text);
    },
  };
}

const body = (value: Json | undefined) => value as Record<string, Json>;

Deno.test("ingest hands a folder over in batches, and tells what is gone and what failed", async () => {
  const at = await rig({
    ops: {
      ingestFiles(given, tell) {
        const files = body(given)["files"] as { name: string }[];
        for (const { name } of files) {
          tell(
            "progress",
            name === "bad.md" ? { name, did: "failed", why: "no" } : { name, did: "new" },
          );
        }
        const failed = files.filter(({ name }) => name === "bad.md").map(({ name }) => ({
          name,
          why: "no",
        }));
        return { ...REPORT, added: files.length - failed.length, failed };
      },
      ingestGone: () => ({ removed: ["file:/old.md"] }),
    },
  });
  for (let n = 0; n < 620; n++) at.work(`docs/${n}.md`);
  at.work("docs/bad.md");
  at.work("docs/.env");
  assert.equal(await at.run("ingest", "docs"), 1);
  const batches = at.asked("ingestFiles").map((each) => body(each));
  assert.deepEqual(batches.map((each) => (each["files"] as Json[]).length), [500, 121]);
  assert.deepEqual(
    ["label", "colour", "owner", "by"].map((name) => batches[0]?.[name]),
    ["internal", "YELLOW", "alice", "operator"],
  );
  const root = join(at.hands.around.cwd, "docs");
  const [gone] = at.asked("ingestGone").map((each) => body(each));
  assert.equal(gone?.["keyPrefix"], `file:${root}/`);
  assert.equal((gone?.["present"] as Json[]).length, 621);
  assert.equal(at.out(), "620 new, 0 changed, 0 unchanged, 1 removed, 1 failed\n");
  assert.equal(at.said().match(/bad\.md/g)?.length, 1);
  assert.match(at.said(), /failed bad\.md: no/);
  assert.match(at.said(), /1 with keys or credentials \(never taken\)/);
  assert.deepEqual(at.wikis.seen.started.at(-1)?.reads, [root]);
  assert.equal(at.asked("extract").length, 1);
});

Deno.test("what comes from the web is RED and public, and more trust is said at the terminal alone", async () => {
  const fetch = () =>
    Promise.resolve({
      url: "https://example.org/page",
      mediaType: "text/html",
      bytes: new TextEncoder().encode("<p>hi"),
    });
  const ops = { ingestFiles: () => ({ ...REPORT, added: 1 }) };
  const at = await rig({ ops, fetch });
  assert.equal(await at.run("ingest", "https://example.org/page#x"), 0);
  const [given] = at.asked("ingestFiles").map((each) => body(each));
  assert.deepEqual([given?.["colour"], given?.["label"]], ["RED", "public"]);
  const [file] = given?.["files"] as Record<string, string>[];
  assert.deepEqual(
    [file?.["key"], file?.["kind"], file?.["origin"], file?.["name"]],
    ["https://example.org/page", "html", "https://example.org/page", "example.org/page"],
  );
  assert.equal(await at.run("ingest", "https://example.org/page", "--colour", "YELLOW"), 64);
  assert.match(at.said(), /nobody is at a terminal/);
  at.work("a.md");
  assert.equal(await at.run("ingest", "a.md", "--colour", "BLUE", "--yes"), 64);
  assert.equal(await at.run("ingest", "a.md", "--colour", "RED"), 0);
  assert.equal(body(at.asked("ingestFiles").at(-1))["colour"], "RED");
  const there = await rig({ ops, types: ["yes"] });
  there.work("a.md");
  assert.equal(await there.run("ingest", "a.md", "--colour", "BLUE"), 0);
  assert.equal(body(there.asked("ingestFiles").at(-1))["colour"], "BLUE");
});

Deno.test("standard input is taken in by its name, and its temporary file does not stay", async () => {
  let path = "";
  const at = await rig({
    input: "# Hi\n",
    ops: {
      ingestFiles(given) {
        path = (body(given)["files"] as { path: string }[])[0]?.path ?? "";
        assert.equal(Deno.readTextFileSync(path), "# Hi\n");
        return { ...REPORT, added: 1 };
      },
    },
  });
  assert.equal(await at.run("ingest", "-", "--name", "note.md", "--ttl", "2d"), 0);
  const given = body(at.asked("ingestFiles")[0]);
  assert.equal(given["expiresAt"], NOW + 2 * 86_400_000);
  assert.equal((given["files"] as { key: string; kind: string }[])[0]?.key, "stdin:note.md");
  assert.equal(at.hands.disk.stat(path), undefined);
  assert.equal(await at.run("ingest", "-", "--ttl", "soon"), 2);
});

Deno.test("keys, the wiki itself, Remit's state and the whole machine are not taken in", async () => {
  const at = await rig({ ops: { ingestFiles: () => REPORT } });
  at.work(".env", "KEY=1");
  for (
    const [path, code] of [[".env", 64], ["w", 64], ["w/pages", 64], ["/", 64], [
      "gone.md",
      2,
    ]] as const
  ) {
    assert.equal(await at.run("ingest", path), code, path);
  }
  const state = join(at.hands.root, ".local/state/remit/default");
  assert.equal(await at.run("ingest", state), 64);
  assert.equal(at.asked("ingestFiles").length, 0);
});

Deno.test("mallory's pipe, socket and devices are refused before anything is opened", async () => {
  const at = await rig({ ops: { ingestFiles: () => REPORT } });
  const pipe = join(at.hands.around.cwd, "pipe");
  const made = await new Deno.Command("mkfifo", { args: [pipe, `${pipe}.md`] }).output();
  assert.ok(made.success);
  using _socket = Deno.listen({ transport: "unix", path: join(at.hands.around.cwd, "socket") });
  assert.equal(await at.run("ingest", "pipe"), 2);
  assert.match(at.said(), /Cannot take "pipe" in: it is neither a file nor a folder/);
  assert.equal(await at.run("ingest", "pipe.md"), 2);
  assert.equal(await at.run("ingest", "socket"), 2);
  assert.equal(await at.run("ingest", "/dev/zero"), 64);
  assert.equal(await at.run("ingest", "/proc/self/environ"), 64);
  assert.equal(at.asked("ingestFiles").length, 0);
});

Deno.test("a folder that may not be read, or lies too deep, takes nothing out of the wiki", async () => {
  const at = await rig({
    ops: {
      ingestFiles: (given) => ({ ...REPORT, added: (body(given)["files"] as Json[]).length }),
      ingestGone: () => ({ removed: [] }),
    },
  });
  const root = join(at.hands.around.cwd, "docs");
  at.work("docs/a.md");
  at.work("docs/shut/b.md");
  at.work(`docs/${"d/".repeat(65)}c.md`);
  const { wikis } = at;
  const entries = (path: string) =>
    path.endsWith("/shut") ? "it may not be read" : wikis.entries(path);
  const hands = { ...at.hands, wikis: { ...wikis, entries } };
  assert.equal(await runCommandLine(["wiki", "ingest", "docs"], hands), 1);
  const [gone] = at.asked("ingestGone").map((each) => body(each));
  assert.deepEqual(gone?.["unseen"], [
    `file:${root}/shut/`,
    `file:${root}/${"d/".repeat(64)}`,
  ]);
  assert.match(at.said(), /failed shut: it may not be read; what was taken in of it stays/);
  assert.match(at.said(), /left out: .*1 folder too deep/);
});

Deno.test("a query shows place, headings, origin and marks, and nothing that moves the cursor", async () => {
  const at = await rig({
    ops: { query: () => ({ hits: [HIT], fit: "good", searched: SEARCHED }) },
  });
  assert.equal(
    await at.run("query", "what is", "a lease?", "--k", "3", "--clearance", "internal"),
    0,
  );
  assert.deepEqual(at.asked("query"), [{ text: "what is a lease?", k: 3, clearance: "internal" }]);
  assert.match(at.out(), /^w\/raw\/lease\.md:31 {2}Leases > What\n {2}from .*lease\.md · RED\n/);
  assert.match(at.out(), /31 │ A lease is a \\u\{1b\}\[2Jright\n {2}32 │ that ends\./);
  // deno-lint-ignore no-control-regex -- it looks for them
  assert.doesNotMatch(at.out(), /\x1b/);
  const json = await rig({
    ops: { query: () => ({ hits: [HIT], fit: "good", searched: SEARCHED }) },
  });
  assert.equal(await json.run("query", "x", "--json"), 0);
  assert.deepEqual(Object.keys(JSON.parse(json.out())), ["question", "fit", "hits", "searched"]);
});

Deno.test("when nothing fits, it is said what was searched, and the exit code is 68", async () => {
  const at = await rig({ ops: { query: () => ({ hits: [], fit: "none", searched: SEARCHED }) } });
  assert.equal(await at.run("query", "leases"), 68);
  assert.match(
    at.out(),
    /Nothing in this wiki fits\.\n {2}looked through 1 page and 2 sources \(3 passages\) for lease/,
  );
});

Deno.test("an answer of the process that does not read is a fault, not a crash", async () => {
  const at = await rig({
    ops: { query: () => ({ hits: "many" }), lint: () => [{ rule: "made-up" }] },
  });
  assert.equal(await at.run("query", "x"), 67);
  assert.equal(await at.run("lint"), 67);
});

Deno.test("lint exits with 1 for errors alone, and --fix decides each patch at a terminal", async () => {
  const finding = {
    ...{ rule: "stalePage", severity: "warning", file: "pages/lease.md", line: 3 },
    ...{ message: "it is old", remedy: "ingest it", fixable: true },
  };
  const warning = await rig({ ops: { lint: () => [finding] } });
  assert.equal(await warning.run("lint"), 0);
  assert.match(warning.out(), /^w\/pages\/lease\.md:3: warning stalePage: it is old\n/);
  let fixed = false;
  const at = await rig({
    types: ["yes"],
    ops: {
      lint: () => fixed ? [] : [{ ...finding, severity: "error" }],
      lintFix: () => [PATCH],
      patch: () => ({ patch: PATCH, diff: "--- a\n+++ b\n-old\n+new\n" }),
      decide(given) {
        fixed = body(given)["apply"] === true;
        return { ...PATCH, state: "applied" };
      },
    },
  });
  assert.equal(await at.run("lint", "--fix"), 0);
  assert.deepEqual(at.asked("decide"), [{ id: PATCH.id, apply: true, by: "alice" }]);
  assert.match(at.said(), /\+new/);
  const alone = await rig({
    ops: { lint: () => [{ ...finding, severity: "error" }], lintFix: () => [PATCH] },
  });
  assert.equal(await alone.run("lint", "--fix", "--json"), 1);
  assert.deepEqual(JSON.parse(alone.out()).patches, [PATCH.id]);
  assert.equal(await alone.run("lint", "--rule", "nonsense"), 2);
});

Deno.test("an edit that meets another's change is told, and what was typed is kept", async () => {
  const at = await rig({
    env: { EDITOR: "ed" },
    edit(file) {
      Deno.writeTextFileSync(file, "mine\n");
      return 0;
    },
    ops: {
      page: () => ({ page: PAGE, history: [], backlinks: [] }),
      read: () => ({
        ...{ file: "pages/lease.md", from: 1, to: 1, of: 1, text: "theirs", digest: D },
        ...{ colour: "RED", label: "secret", version: 3 },
      }),
      edit: () => ({
        ...PATCH,
        state: "conflict",
        conflicts: [{ page: "lease", expected: 3, found: 4, by: "task:t9", why: "version" }],
      }),
    },
  });
  assert.equal(await at.run("edit", "lease"), 1);
  assert.deepEqual(at.asked("edit"), [{ name: "lease", text: "mine\n", base: 3, by: "alice" }]);
  assert.match(at.said(), /conflict lease: task:t9 changed it meanwhile/);
  const kept = /kept in (.*\.md)/.exec(at.said())?.[1] ?? "";
  assert.equal(Deno.readTextFileSync(join(at.hands.around.cwd, kept)), "mine\n");
});

Deno.test("an edit that was taken says the page and the version that it made", async () => {
  const made = { version: 4, digest: D, author: "alice", at: NOW, patch: PATCH.id };
  const trust = { colour: "RED", label: "secret", deleted: false };
  const at = await rig({
    env: { EDITOR: "ed" },
    edit(file) {
      Deno.writeTextFileSync(file, "mine\n");
      return 0;
    },
    ops: {
      // Somebody else wrote version 5 meanwhile.
      page: () => ({
        page: { ...PAGE, version: 5 },
        history: [{ ...made, ...trust }, {
          ...{ ...made, ...trust },
          version: 5,
          patch: "w000000000009",
        }],
        backlinks: [],
      }),
      read: () => ({
        ...{ file: "pages/lease.md", from: 1, to: 1, of: 1, text: "theirs", digest: D },
        ...{ colour: "RED", label: "secret", version: 3 },
      }),
      edit: () => ({ ...PATCH, state: "applied" }),
    },
  });
  assert.equal(await at.run("edit", "lease"), 0);
  assert.match(at.said(), /lease is version 4 now \(w000000000001\)/);
  assert.equal(await at.run("edit", "lease", "--json"), 0);
  assert.equal(JSON.parse(at.out()).version, 4);
});

Deno.test("sanitize shows all of a page, asks, and signs that very version with the person's key", async () => {
  const ops = {
    page: () => ({ page: PAGE, history: [], backlinks: [] }),
    read: () => ({
      ...{ file: "pages/lease.md", from: 1, to: 2, of: 2, text: "one\ntwo", digest: D },
      ...{ colour: "RED", label: "secret", version: 3 },
    }),
    mark: () => ({ ...PAGE, colour: "YELLOW" }),
  };
  const at = await rig({ ops, types: ["yes"] });
  assert.equal(await at.run("sanitize", "lease", "--colour", "YELLOW"), 0);
  assert.match(at.said(), /1 │ one\n.*2 │ two/);
  const mark = PageMark.parse(at.asked("mark")[0]);
  assert.deepEqual([mark.digest, mark.colour, mark.label], [D, "YELLOW", "secret"]);
  assert.ok(at.wikis.seen.started.at(-1)?.trustedKeys.includes(mark.key));
  const key = createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: mark.key },
    format: "jwk",
  });
  const { key: _key, signature, ...unsigned } = mark;
  assert.ok(
    verify(null, Buffer.from(pageMarkText(unsigned)), key, Buffer.from(signature, "base64url")),
  );

  const nobody = await rig({ ops });
  assert.equal(await nobody.run("redact", "lease", "--label", "public"), 64);
  const no = await rig({ ops, types: ["no"] });
  assert.equal(await no.run("redact", "lease", "--label", "public"), 64);
  assert.equal(await no.run("sanitize", "lease", "--colour", "RED"), 2);
  assert.equal(nobody.asked("mark").length + no.asked("mark").length, 0);
  const moved = await rig({
    types: ["yes"],
    ops: { ...ops, read: () => ({ ...ops.read(), digest: "b".repeat(64) }) },
  });
  assert.equal(await moved.run("sanitize", "lease", "--colour", "BLUE"), 1);
});

Deno.test("review lists, shows and decides patches, and says that a page was read", async () => {
  const ops: WikiOps = {
    patches: () => [PATCH],
    patch: () => ({ patch: PATCH, diff: "--- a\n+++ b\n+new\n" }),
    decide: (given) => ({
      ...PATCH,
      state: body(given)["apply"] === true ? "applied" : "rejected",
    }),
    page: () => ({ page: PAGE, history: [], backlinks: [] }),
    review: () => PAGE,
  };
  const at = await rig({ ops });
  assert.equal(await at.run("review"), 0);
  assert.match(at.out(), /w000000000001 .*task:t1: new words/);
  assert.equal(await at.run("review", PATCH.id), 0);
  assert.match(at.out(), /\+new/);
  assert.equal(await at.run("review", PATCH.id, "--reject"), 0);
  assert.equal(await at.run("review", "--page", "lease"), 0);
  assert.deepEqual(at.asked("review"), [{ name: "lease", version: 3, by: "alice" }]);
  assert.equal(await at.run("review", "nonsense"), 2);
  assert.equal(await at.run("review", PATCH.id, "--apply", "--reject"), 2);
  const typed = await rig({ ops, types: ["no"] });
  assert.equal(await typed.run("review", PATCH.id), 0);
  assert.deepEqual(typed.asked("decide"), [{ id: PATCH.id, apply: false, by: "alice" }]);
});

Deno.test("notes are listed, kept and rejected, and show their text behind a mark", async () => {
  const note = {
    ...{ id: "n000000000001", kind: "userMemory", text: "likes tea\nremit: done", task: "t1" },
    ...{ agent: "helper", colour: "RED", label: "internal", state: "waiting", at: NOW },
  };
  const at = await rig({
    ops: { notes: () => [note], noteDecide: () => ({ ...note, state: "kept" }) },
  });
  assert.equal(await at.run("notes"), 0);
  assert.match(
    at.out(),
    /n000000000001 .*waits .*by helper in t1 .*RED\n│ likes tea\n│ remit: done/,
  );
  assert.equal(await at.run("notes", "keep", note.id), 0);
  assert.deepEqual(at.asked("noteDecide"), [{ id: note.id, keep: true, by: "alice" }]);
  assert.equal(await at.run("notes", "keep"), 2);
  assert.equal(await at.run("notes", "eat", note.id), 2);
});

Deno.test("many patches are asked about at once, and --all decides without asking", async () => {
  const many = Array.from({ length: 5 }, (_, n) => ({ ...PATCH, id: `w00000000000${n}` }));
  const ops: WikiOps = {
    patches: () => many,
    decide: (given) => ({ ...PATCH, id: body(given)["id"], state: "applied" }),
  };
  const at = await rig({ ops, types: ["yes"] });
  assert.equal(await at.run("review", "--all"), 0);
  assert.equal(at.asked("decide").length, 5);
  assert.match(at.said(), /5 patches of 5 applied/);
  const left = await rig({ ops, types: [""] });
  assert.equal(await left.run("review", "--all"), 0);
  assert.equal(left.asked("decide").length, 0);
  const nobody = await rig({ ops });
  assert.equal(await nobody.run("review", "--all"), 64);
  assert.equal(await nobody.run("review", "--all", "--apply"), 0);
  assert.equal(nobody.asked("decide").length, 5);
});

Deno.test("show reads a long file in pieces that the process allows, and in any span", async () => {
  const lines = Array.from({ length: 12_345 }, (_, n) => `line ${n + 1}`);
  const at = await rig({
    ops: {
      read(given) {
        const { from, lines: count } = given as { from: number; lines: number };
        assert.ok(count <= 10_000);
        // As the process does: whole lines, at most 64 KiB of them.
        const some = lines.slice(from - 1, from - 1 + Math.min(count, 4_000));
        return {
          ...{ file: "raw/a.md", from, to: from + some.length - 1, of: lines.length },
          ...{ text: some.join("\n"), digest: D, colour: "YELLOW", label: "internal" },
        };
      },
    },
  });
  assert.equal(await at.run("show", "raw/a.md"), 0);
  assert.equal(at.out(), `${lines.join("\n")}\n`);
  assert.equal(await at.run("show", "w/raw/a.md", "--lines", "5000-5001", "--json"), 0);
  assert.equal(JSON.parse(at.hands.screen.outs.at(-1) ?? "").text, "line 5000\nline 5001");
  assert.equal(await at.run("show", "raw/a.md", "--lines", "5-2"), 2);
});

Deno.test("watch takes a folder in at once and after each change, until Ctrl-C", async () => {
  const at = await rig({
    ops: {
      ingestFiles: (given) => ({ ...REPORT, added: (body(given)["files"] as Json[]).length }),
      ingestGone: () => ({ removed: [] }),
    },
  });
  at.work("docs/a.md");
  let press: (count: number) => void = () => undefined;
  const hands = {
    ...at.hands,
    interrupts: {
      listen(heard: (count: number) => void) {
        press = heard;
        return () => undefined;
      },
    },
    async *watch(): AsyncGenerator<void> {
      await Promise.resolve();
      at.work("docs/b.md");
      yield;
      press(1);
    },
  };
  assert.equal(await runCommandLine(["wiki", "watch", "docs"], hands), 0);
  assert.deepEqual(
    at.asked("ingestFiles").map((each) => (body(each)["files"] as Json[]).length),
    [1, 2],
  );
  assert.equal(await at.run("watch", "gone"), 2);
});

Deno.test("remit wiki says what there is, and --help of it is help", async () => {
  const bare = fakeHands();
  assert.equal(await runCommandLine(["wiki"], bare), 2);
  assert.match(bare.screen.lines.join("\n"), /say which: init, ingest[\s\S]*wiki query QUESTION/);
  const help = fakeHands();
  assert.equal(await runCommandLine(["wiki", "--help"], help), 0);
  assert.match(
    help.screen.outs.join(""),
    /^remit wiki COMMAND\n[\s\S]*wiki ingest PATH\|URL\|-\.\.\. /,
  );
  for (const asked of [["model", "-h"], ["--help", "wiki"], ["wiki", "--help", "--json"]]) {
    const other = fakeHands();
    assert.equal(await runCommandLine(asked, other), 0, asked.join(" "));
    assert.match(other.screen.outs.join(""), /^remit (?:model|wiki) COMMAND\n/);
    assert.deepEqual(other.screen.lines, []);
  }
  assert.equal(await runCommandLine(["nonsense", "--help"], help), 2);
});
