import assert from "node:assert/strict";
import { besiege, type Siege } from "../../fake/siege.ts";
import { calling, cameOf, type Try } from "../_calls.ts";
import { holding } from "../../fake/files_beneath.ts";
import { yesToAll } from "../../fake/yes_to_all.ts";

const SECRET = "plum-orchard-7731";
/** Names under which one might hope to meet keys.env. */
const NAMES = [
  "desk/keys.env",
  "desk/KEYS.ENV",
  "desk/Keys.Env",
  "desk/./keys.env",
  "desk/notes/../keys.env",
  "desk//keys.env",
  "desk/keys.env/",
  "desk/keys.env ",
  "desk/keys.env.",
  "desk/keys.env\u0000.md",
  "desk/keys.env\u200b",
  "desk/\uff4beys.env",
  "desk/keys\uff0eenv",
  "desk/key\u017f.env",
  "desk/keys%2eenv",
  "desk/%6beys.env",
  "desk\\keys.env",
  "desk/link.md",
  "desk/link_of_link.md",
  "desk/hard.md",
  "desk/here/keys.env",
  "desk/notes/up/keys.env",
  "desk/notes/keys.md",
  "above/desk/keys.env",
  "above/desk/hard.md",
  "scratch/../desk/keys.env",
  "scratch/keys.env",
];

async function plant({ desk }: Siege): Promise<void> {
  await Deno.writeTextFile(`${desk}/keys.env`, `TOKEN=${SECRET}\n`);
  await Deno.symlink("keys.env", `${desk}/link.md`);
  await Deno.symlink("link.md", `${desk}/link_of_link.md`);
  await Deno.link(`${desk}/keys.env`, `${desk}/hard.md`);
  await Deno.symlink(".", `${desk}/here`);
  await Deno.symlink("..", `${desk}/notes/up`);
  await Deno.symlink("../keys.env", `${desk}/notes/keys.md`);
}

for (const mode of ["stage", "rw"] as const) {
  Deno.test(`keys.env would have come out by some name or copy of it, with the mount ${mode}`, async () => {
    await besiege(async (siege) => {
      await plant(siege);
      const copies = NAMES.flatMap((path): Try[] => [
        ["file_read", { path }],
        ["file_read", { path, fresh: true, from: 1, to: 1 }],
        ["file_stat", { path }],
        ["file_list", { path }],
        ["file_search", { query: "TOKEN", path }],
        ["outbox_publish", { path, name: "report.md" }],
        ["file_edit", { path, old: "TOKEN", new: "TAKEN" }],
        ["file_write", { path, content: "TAKEN=1\n" }],
        ["file_delete", { path }],
        ["scratch_write", { path, content: "TAKEN=1\n" }],
      ]);
      const tries: readonly Try[] = [
        ...copies,
        ["file_search", { query: "TOKEN" }],
        ["file_search", { query: SECRET, ignoreCase: true }],
        ["file_search", { query: "TOKEN", glob: "keys.*" }],
        ["file_search", { query: "TOKEN", glob: "**/*.md" }],
        ["file_list", { path: "desk", depth: 16 }],
        ["patch_apply", {}],
        // After the changes have been made: does a new file in its place let go of the old?
        ["file_read", { path: "desk/hard.md" }],
        ["file_read", { path: "desk/keys.env" }],
        ["file_read", { path: "desk/notes/plan.md" }],
      ];
      const above = siege.mount({ name: "above" as never, dir: siege.dir + "/above", mode });
      await Deno.mkdir(`${siege.dir}/above`);
      await Deno.rename(siege.desk, `${siege.dir}/above/desk`);
      const desk = siege.mount({ mode, dir: `${siege.dir}/above/desk` });
      const limits = { questions: 1_000, toolCalls: 1_000 };
      const mallory = await siege.run({
        ...{ program: calling(tries), mounts: [desk, above], onQuestion: "ask", limits },
      });
      yesToAll(siege, mallory);
      const came = await cameOf(mallory);
      assert.equal(came.length, tries.length);
      assert.equal(came.at(-1)?.content, "call the supplier\n");
      for (const [i, { outcome, content, error }] of came.slice(0, -1).entries()) {
        const said = JSON.stringify([tries[i], outcome, content, error]);
        // A search repeats the words it was asked for; nothing else may hold them.
        assert.equal(`${content}${error}`.includes(`TOKEN=${SECRET}`), false, said);
        const read = tries[i]?.[0] === "file_read" && outcome === "ok";
        assert.equal(read, false, said);
      }
      assert.equal(
        await Deno.readTextFile(`${siege.dir}/above/desk/keys.env`),
        `TOKEN=${SECRET}\n`,
      );
      const log = JSON.stringify(await siege.ask("log", { task: mallory.id, from: 0 }));
      assert.equal(log.includes(`TOKEN=${SECRET}`), false);
      const receipts = JSON.stringify(await siege.ask("receipts", { task: mallory.id }));
      assert.equal(receipts.includes(SECRET), false);
      assert.deepEqual(await siege.ask("outbox", { task: mallory.id }), []);
      assert.deepEqual(await holding(siege.config.dir, `TOKEN=${SECRET}`), []);
    });
  });
}
