import assert from "node:assert/strict";
import { makeInstance } from "../exec/_fixture/instance.ts";
import { bundleScript } from "../sdk/ts/bundle.ts";
import { makeDesk } from "./_fixture/desk.ts";

Deno.test("the programs run in the engine that they are made for, and hostile patterns end", async () => {
  const desk = makeDesk({ "desk/a.txt": "pear\napple\n", "desk/as": "a".repeat(20_000) + "!\n" });
  const { fs } = desk.remit;
  const serve: Readonly<Record<string, (args: never) => unknown>> = {
    "fs.read": fs.read,
    "fs.list": fs.list,
    "fs.write": fs.write,
    clock: () => ({ now: 1_700_000_000_000 }),
  };
  const folder = new URL(".", import.meta.url).pathname;
  const instance = await makeInstance((fn, args) => serve[fn]?.(args as never));
  const run = async (program: string, ...args: string[]): Promise<unknown> => {
    const { value, error } = await instance.call("command", { program, args, cwd: "desk" });
    assert.equal(error, undefined);
    return Object(value).exit === 0 ? Object(value).stdout : Object(value).exit;
  };
  try {
    assert.equal((await instance.call("@load", { source: await bundleScript(folder) })).ok, true);
    assert.equal(await run("sort", "a.txt"), "apple\npear\n");
    assert.equal(await run("ls"), "a.txt\nas\n");
    assert.equal(await run("date", "+%F"), "2023-11-14\n");
    assert.equal(await run("grep", "-E", "-c", "(a+)+$|(a|a)*b", "as"), 1);
    assert.equal(await run("replace", "pear", "plum", "a.txt"), "a.txt: 1\n");
    assert.equal(desk.staged.get("desk/a.txt"), "plum\napple\n");
    assert.equal(await run("cat", "none"), 1);
    const sum = "5df6629deb82463b0e4395a9f5a878011156b5759f994a100c264a616a73e817";
    assert.equal(await run("sha256sum", "a.txt"), `${sum}  a.txt\n`);
  } finally {
    await instance.close();
  }
});
