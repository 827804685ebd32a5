/** bob links `remit` into his own bin folder and calls it from wherever he is. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { MOVES_THE_TRIP } from "../fake/scenes.ts";

const LAUNCHER = new URL("../../bin/remit", import.meta.url).pathname;

Deno.test("bob calls bin/remit through two symlinks from another folder, and his paths are his", async () => {
  await onMachine(async (machine) => {
    await machine.write("deep/er/plans/trip.txt", "Leave on Monday.\n");
    await machine.write("deep/er/model.yaml", MOVES_THE_TRIP);
    await Deno.mkdir(`${machine.dir}/bin`);
    await Deno.symlink(LAUNCHER, `${machine.dir}/bin/second`);
    await Deno.symlink("second", `${machine.dir}/bin/remit`);
    const deno = Deno.execPath().slice(0, Deno.execPath().lastIndexOf("/"));
    const call = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
      const done = await new Deno.Command(`${machine.dir}/bin/remit`, {
        args: [...args, "--state", machine.state],
        cwd: `${machine.dir}/deep/er`,
        clearEnv: true,
        // An outer task's folder must not count: bob is where he is.
        env: { ...machine.env, INIT_CWD: "/", PATH: `${deno}:${machine.env["PATH"]}` },
        stdin: "null",
      }).output();
      const text = new TextDecoder();
      return { code: done.code, out: text.decode(done.stdout), err: text.decode(done.stderr) };
    };
    const version = await call("--version");
    assert.match(version.out, /^remit \d/, version.err);
    const done = await call(
      "run",
      "-p",
      "Move the trip",
      "--mount",
      "plans=plans",
      "--model",
      "scripted:model.yaml",
      "--json",
    );
    assert.equal(done.code, 75, done.err);
    assert.deepEqual(readRun(done.out).changes.map(({ path }) => path), ["plans/trip.txt"]);
    const waits = await call("questions");
    assert(
      waits.err.includes(`${machine.dir}/bin/remit answer`),
      "it names itself as bob called it",
    );
  });
});
