import assert from "node:assert/strict";
import { HAS_BWRAP, makeWorld } from "../../_fixture/small_children.ts";
import { kernelPermissions } from "../../../launch/kernel/start_powers.ts";

for (const walled of [true, false]) {
  Deno.test({
    name: `these permissions suffice for children ${walled ? "with" : "without"} bubblewrap`,
    ignore: walled && !HAS_BWRAP,
    async fn(): Promise<void> {
      const world = await makeWorld();
      try {
        const { bwrap: _, ...bare } = world.config.programs;
        const config = {
          ...world.config,
          dir: `${world.dir}/run`,
          programs: walled ? world.config.programs : bare,
        };
        await Deno.writeTextFile(`${world.dir}/deno/location_data`, "");
        const from = (file: string): string => JSON.stringify(import.meta.resolve(file));
        await Deno.writeTextFile(
          `${world.dir}/kernel.ts`,
          `import { makeChildren } from ${from("./children.ts")};
           import { makeSpawnPowers } from ${from("../start/spawn_powers.ts")};
           const config = ${JSON.stringify(config)};
           const handler = { ask() { return null; }, tell() {} };
           const powers = { now: () => Date.now(), after: (ms, f) => { const t = setTimeout(f, ms); return () => clearTimeout(t); } };
           const children = await makeChildren({ config, powers, spawn: makeSpawnPowers() });
           const worker = await children.worker(handler);
           const spawn = makeSpawnPowers();
           const { child, roots } = await children.toolhost({ mounts: [{ name: "desk", dir: "${world.dir}/desk", mode: "ro" }],
             content: "${world.dir}/content", scratch: "${world.dir}/scratch", writable: false, handler,
             judge: (_, path) => path.endsWith("a.md") && (${walled} || spawn.realPath(path) === path)
               ? { allow: true } : { allow: false, reason: "no" } });
           console.log(JSON.stringify({ walls: children.walls(), one: await worker.port.ask("eval", "return 1"),
             text: await child.port.ask("eval", 'return Deno.readTextFileSync("' + roots.mounts[0].root + '/notes/a.md")') }));
           await children.close();`,
        );
        const flags = kernelPermissions(config, [`${world.dir}/desk`]);
        const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
          args: [
            "run",
            "--no-prompt",
            "--no-check",
            "--ignore-env",
            "--config",
            new URL("../../../deno.json", import.meta.url).pathname,
            ...flags,
            `${world.dir}/kernel.ts`,
          ],
        }).output();
        const text = new TextDecoder();
        assert.equal(code, 0, text.decode(stderr));
        const { walls, one, text: read } = JSON.parse(text.decode(stdout));
        assert.equal(walls.bwrap, walled);
        assert.equal(walls.storage, true);
        assert.equal(one, 1);
        assert.equal(read, "alpha\n");
      } finally {
        await world.close();
      }
    },
  });
}
