import assert from "node:assert/strict";
import { join } from "node:path";
import type { Json } from "../../../contracts/base/mod.ts";
import { body, NOW, REPORT, rig } from "../_fixture/rig.ts";
import { runCommandLine } from "../../_fixture/world.ts";

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
  const root = join(at.powers.environment.cwd, "docs");
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

Deno.test("what was left out of a file is told by its name, also with --json", async () => {
  const noted = [{
    name: "a.pdf",
    notes: ["9 characters of text that nobody sees were left out."],
  }];
  const ops = {
    ingestFiles: () => ({ ...REPORT, added: 1, noted }),
    ingestGone: () => ({ removed: [] }),
  };
  const at = await rig({ ops });
  at.work("docs/a.md");
  assert.equal(await at.run("ingest", "docs"), 0);
  assert.match(at.said(), /! a\.pdf: 9 characters of text that nobody sees were left out\./);
  assert.equal(await at.run("ingest", "docs", "--json"), 0);
  assert.match(at.out(), /"noted":\s*\[\s*\{\s*"name":\s*"a\.pdf"/);
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
  assert.equal(at.powers.disk.stat(path), undefined);
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
  const state = join(at.powers.root, ".local/state/remit/default");
  assert.equal(await at.run("ingest", state), 64);
  assert.equal(at.asked("ingestFiles").length, 0);
});

Deno.test("mallory's pipe, socket and devices are refused before anything is opened", async () => {
  const at = await rig({ ops: { ingestFiles: () => REPORT } });
  const pipe = join(at.powers.environment.cwd, "pipe");
  const made = await new Deno.Command("mkfifo", { args: [pipe, `${pipe}.md`] }).output();
  assert.ok(made.success);
  using _socket = Deno.listen({
    transport: "unix",
    path: join(at.powers.environment.cwd, "socket"),
  });
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
  const root = join(at.powers.environment.cwd, "docs");
  at.work("docs/a.md");
  at.work("docs/shut/b.md");
  at.work(`docs/${"d/".repeat(65)}c.md`);
  const { wikis } = at;
  const entries = (path: string) =>
    path.endsWith("/shut") ? "it may not be read" : wikis.entries(path);
  const powers = { ...at.powers, wikis: { ...wikis, entries } };
  assert.equal(await runCommandLine(["wiki", "ingest", "docs"], powers), 1);
  const [gone] = at.asked("ingestGone").map((each) => body(each));
  assert.deepEqual(gone?.["unseen"], [
    `file:${root}/shut/`,
    `file:${root}/${"d/".repeat(64)}`,
  ]);
  assert.match(at.said(), /failed shut: it may not be read; what was taken in of it stays/);
  assert.match(at.said(), /left out: .*1 folder too deep/);
});
