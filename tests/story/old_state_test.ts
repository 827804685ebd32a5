/**
 * alice goes on with what an older version left: a state of schema 2, whose kernel kept no record of contents, and a
 * wiki of schema 2. The version before made both, with tasks that read her folder, staged a file, and applied one.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { sha256Hex } from "../../port/digest.ts";
import { type Machine, onMachine } from "../fake/remit.ts";

const OLD = new URL("_fixture/state_schema_2.tar.gz", import.meta.url).pathname;
/** Its first task, what a later one wrote into the folder with alice's yes, and where its wiki lay. */
const TASK = "tcysymu5hy3lc",
  WROTE = `${"The rota of the harbour, kept by the older version. ".repeat(6)}\n`,
  WIKI = "/tmp/leftmcp/ofix/wiki";

const idOf = (folder: string): string => sha256Hex(new TextEncoder().encode(folder)).slice(0, 16);

/** Puts the old state in the place of a machine's own; gives where its wiki lies now. */
async function unpack({ dir, state }: Machine): Promise<string> {
  const made = await new Deno.Command("tar", { args: ["-xzf", OLD, "-C", dir] }).output();
  assert.ok(made.success, new TextDecoder().decode(made.stderr));
  await Deno.rename(join(dir, "state"), state);
  const wiki = await Deno.realPath(join(dir, "wiki"));
  // A state knows a wiki by where it lies.
  await Deno.rename(join(state, "wiki", idOf(WIKI)), join(state, "wiki", idOf(wiki)));
  for (const name of ["last", `${idOf(wiki)}/folder`]) {
    const file = join(state, "wiki", name);
    await Deno.writeTextFile(file, (await Deno.readTextFile(file)).replace(WIKI, wiki));
  }
  return wiki;
}

/** The schema of a database. */
function schemaOf(file: string): number {
  using db = new DatabaseSync(file, { readOnly: true });
  return Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
}

/** Colour and label that a state knows of a text's bytes. */
function known(state: string, text: string): readonly number[] | undefined {
  using db = new DatabaseSync(join(state, "kernel/contents.db"), { readOnly: true });
  const digest = sha256Hex(new TextEncoder().encode(text));
  const row = db.prepare("SELECT colour, label FROM contents WHERE lower(hex(digest)) = ?").get(
    digest,
  );
  return row === undefined ? undefined : [Number(row["colour"]), Number(row["label"])];
}

Deno.test("alice's older state and wiki open, go on, and are backed up and restored with what is known of contents", async () => {
  await onMachine(async (machine) => {
    const { state, dir } = machine;
    const wiki = await unpack(machine);
    assert.equal(schemaOf(join(state, "kernel/remit.db")), 2);
    assert.equal(schemaOf(join(state, "wiki", idOf(wiki), "wiki.db")), 2);

    const tasks = await machine.json(["tasks"]) as { id: string; status: string }[];
    assert.ok(tasks.some(({ id, status }) => id === TASK && status === "done"));
    assert.equal(schemaOf(join(state, "kernel/remit.db")), 4);
    const verified = await machine.remit(["audit", "verify"]);
    assert.equal(verified.code, 0, verified.stderr);
    assert.match((await machine.remit(["diff", TASK])).stdout, /\+opened/);

    // What an older task brought into her folder is known by its bytes, as of today's tasks.
    const play = await machine.write(
      "play.yaml",
      'scenario: goes on\nturns:\n  - calls: [{ tool: file_write, args: { path: desk/next.md, content: "next\\n" } }]\n  - say: done\n',
    );
    const run = await machine.remit([
      ...["run", "-p", "Go on.", "--mount", `desk=${join(dir, "desk")}`, "--on-question", "deny"],
      ...["--model", `scripted:${play}`],
    ]);
    assert.equal(run.code, 0, run.stderr);
    assert.deepEqual(known(state, WROTE), [1, 1]);

    const asked = await machine.remit(["wiki", "query", "lanterns", "--wiki", wiki]);
    assert.match(asked.stdout, /lanterns/i, asked.stderr);
    assert.equal(schemaOf(join(state, "wiki", idOf(wiki), "wiki.db")), 3);
    await Deno.writeTextFile(
      join(dir, "desk/more.md"),
      "# Oil\n\nOil for nine lanterns came in.\n",
    );
    const taken = await machine.remit([
      "wiki",
      "ingest",
      join(dir, "desk/more.md"),
      "--wiki",
      wiki,
    ]);
    assert.equal(taken.code, 0, taken.stderr);

    const file = join(dir, "kept.backup");
    const kept = await machine.remit(["backup", file]);
    assert.equal(kept.code, 0, kept.stderr);
    assert.equal((await machine.remit(["stop"])).code, 0);
    await Deno.rename(state, `${state}-before`);
    const back = await machine.remit(["restore", file]);
    assert.equal(back.code, 0, back.stderr);
    assert.deepEqual(known(state, WROTE), [1, 1]);
    const there = await machine.json(["tasks"]) as { id: string }[];
    assert.ok(there.some(({ id }) => id === TASK), JSON.stringify(there));
  });
});

const SEALED = new URL("_fixture/sealed_version_1.backup", import.meta.url).pathname;
/** Its passphrase, its one task, and the head of its log, as `remit backup` printed it. */
const PASSPHRASE = "a passphrase of alice",
  SEALED_TASK = "t911k0w7lg72s",
  SEALED_HEAD = "1e3f5db07be465ba77ed987f5c284f83dd0e6b6053818fe74c620c27d11637f3";

Deno.test("alice opens a backup that an older version sealed, with its passphrase and no other", async () => {
  await onMachine(async (machine) => {
    const word = await machine.write("word", `${PASSPHRASE}\n`);
    const wrong = await machine.write("wrong", "another passphrase\n");
    const refused = await machine.remit(["restore", SEALED, "--passphrase-file", wrong]);
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /passphrase is another/);

    const flags = ["--passphrase-file", word, "--head", SEALED_HEAD];
    const back = await machine.remit(["restore", SEALED, ...flags]);
    assert.equal(back.code, 0, back.stderr);
    const tasks = await machine.json(["tasks"]) as { id: string; status: string }[];
    assert.deepEqual(tasks.map(({ id, status }) => [id, status]), [[SEALED_TASK, "done"]]);
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
    assert.match((await machine.remit(["diff", SEALED_TASK])).stdout, /\+next/);
  });
});
