import assert from "node:assert/strict";
import { clearRooms, removeRoom } from "./command_spawn_powers.ts";

Deno.test("a folder that a program closed is removed all the same, and a link leads nowhere", async () => {
  const folder = await Deno.makeTempDir({ prefix: "remit-command-" });
  await Deno.mkdir(`${folder}/room/a/b`, { recursive: true });
  await Deno.mkdir(`${folder}/kept`, { mode: 0o500 });
  await Deno.symlink(`${folder}/kept`, `${folder}/room/link`);
  await Deno.chmod(`${folder}/room/a/b`, 0o000);
  await Deno.chmod(`${folder}/room/a`, 0o000);
  await removeRoom(`${folder}/room`);
  await removeRoom(`${folder}/room`);
  assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["kept"]);
  assert.equal(((await Deno.stat(`${folder}/kept`)).mode ?? 0) & 0o777, 0o500);
  await removeRoom(folder);
});

Deno.test("what a killed kernel left of runs is removed, and nothing else of its tasks", async () => {
  const work = await Deno.makeTempDir({ prefix: "remit-command-" });
  await Deno.mkdir(`${work}/t1/run-1/desk`, { recursive: true });
  await Deno.mkdir(`${work}/t1/content`);
  await Deno.mkdir(`${work}/t2/run-2`, { recursive: true });
  await clearRooms(work);
  await clearRooms(`${work}/nowhere`);
  assert.deepEqual([...Deno.readDirSync(`${work}/t1`)].map(({ name }) => name), ["content"]);
  assert.deepEqual([...Deno.readDirSync(`${work}/t2`)], []);
  await removeRoom(work);
});
