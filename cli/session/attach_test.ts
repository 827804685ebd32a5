import assert from "node:assert/strict";
import { join } from "node:path";
import type { Mount } from "../../contracts/tool/mod.ts";
import { makeDisk } from "../../launch/disk/disk_powers.ts";
import { makePaint } from "../terminal/paint.ts";
import { asSaid, fenced, withMentions } from "./attach.ts";
import { makeComplete } from "./complete_line.ts";
import { openHistory } from "./history.ts";
import { placesOf } from "../../launch/disk/places.ts";
import { readEnvironment } from "../../launch/disk/environment_powers.ts";

async function desk() {
  const dir = await Deno.realPath(await Deno.makeTempDir());
  for (const folder of ["desk", ".ssh"]) await Deno.mkdir(join(dir, folder));
  await Deno.writeTextFile(join(dir, "desk/plan.md"), "plan\n");
  await Deno.writeTextFile(join(dir, "letter.txt"), "===== end\ndear\n");
  await Deno.writeTextFile(join(dir, ".ssh/id_rsa"), "key\n");
  await Deno.writeFile(join(dir, "bytes"), new Uint8Array([0, 1, 255]));
  await Deno.symlink(join(dir, ".ssh/id_rsa"), join(dir, "innocent.txt"));
  const said: string[] = [];
  const mount = { name: "desk", dir: join(dir, "desk"), mode: "stage" };
  const parts = {
    disk: makeDisk(),
    environment: { cwd: dir, env: () => undefined },
    // Only name and folder are looked at.
    mounts: [mount as unknown as Mount],
    screen: { say: (line: string) => void said.push(line), paint: makePaint(false), width: 80 },
  };
  return { dir, said, parts };
}

Deno.test("a mention of a file in a mount names it; one of another file reads it once, as YELLOW, and says so", async () => {
  const { dir, said, parts } = await desk();
  assert.deepEqual(withMentions("Look at @desk/plan.md, and me@example.org", parts), {
    text: "Look at @desk/plan.md, and me@example.org\n\n(@desk/plan.md, is desk/plan.md)",
  });
  const given = withMentions("Answer @letter.txt.", parts);
  assert.equal(given.attached, `file ${dir}/letter.txt`);
  assert.ok(
    given.text.endsWith(
      `====== file ${dir}/letter.txt\n===== end\ndear\n====== end`,
    ),
    given.text,
  );
  assert.match(said.join("\n"), /it may read desk\/plan\.md[^]*one file, 15 bytes, as YELLOW/);
  assert.deepEqual(withMentions("@param is no file", parts), { text: "@param is no file" });
});

Deno.test("no mention gives what no agent may read, a folder, or what is no text", async () => {
  const { parts } = await desk();
  const refused = (text: string, why: RegExp): void =>
    assert.throws(() => withMentions(text, parts), why);
  refused("@.ssh/id_rsa", /never-list/);
  refused("@innocent.txt", /never-list/);
  refused("@.ssh", /never-list|no file/);
  refused("@bytes", /no text/);
});

Deno.test("no content ends the block that it stands in", () => {
  const block = fenced("x", "=====\n====== end\n");
  assert.equal(block, "======= x\n=====\n====== end\n======= end");
  assert.match(asSaid("ls", { code: 0, output: "a\n" }).attached ?? "", /person's command ls/);
});

Deno.test("Tab completes commands and paths, and offers no name that would not stay one word", async () => {
  const { dir, parts } = await desk();
  await Deno.writeTextFile(join(dir, "let me in"), "");
  await Deno.writeTextFile(join(dir, "let\x1b[2J"), "");
  await Deno.writeTextFile(join(dir, "later.txt"), "");
  const complete = makeComplete({ ...parts, slashes: ["/cap", "/cost", "/copy"] });
  assert.deepEqual(complete("/c"), { replaces: 2, by: "/c", choices: ["/cap", "/cost", "/copy"] });
  assert.deepEqual(complete("/cap"), { replaces: 4, by: "/cap ", choices: [] });
  assert.deepEqual(complete("see @de"), { replaces: 2, by: "desk/", choices: [] });
  assert.deepEqual(complete("see @desk/p"), { replaces: 6, by: "desk/plan.md ", choices: [] });
  assert.deepEqual(complete("!cat let"), { replaces: 3, by: "letter.txt ", choices: [] });
  assert.deepEqual(complete("@l")?.choices, ["later.txt", "letter.txt"]);
  assert.equal(complete("words"), undefined);
  assert.equal(complete("@nothing/x"), undefined);
});

Deno.test("what was typed is there in the next session, for its person alone; a broken file is as none", async () => {
  const dir = await Deno.makeTempDir();
  const environment = readEnvironment(dir);
  const places = placesOf(environment, dir);
  const disk = makeDisk();
  const open = () => openHistory({ powers: { disk, environment } as never, places });
  const first = open();
  for (const line of ["one", "two", "one", " "]) first.add(line);
  assert.deepEqual(open().past, ["two", "one"]);
  const path = join(places.person, "typed.json");
  assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o077, 0);
  await Deno.writeTextFile(path, "{");
  assert.deepEqual(open().past, []);
});
