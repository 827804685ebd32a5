import assert from "node:assert/strict";
import { makeSwarmPowers, type SwarmWalls } from "./swarm_powers.ts";

Deno.test("git keeps the mirror's branches as files, whatever it would choose by itself", async () => {
  const seen: Readonly<Record<string, string>>[] = [];
  const walls: SwarmWalls = {
    find: (name) => `/usr/bin/${name}`,
    gitLine: (_room, _git, _args, env) => {
      seen.push(env);
      return Promise.reject(new Error("no wall here"));
    },
    checkLine: () => Promise.reject(new Error("no wall here")),
  };
  const powers = makeSwarmPowers(walls);
  await assert.rejects(powers.git({ mirror: "/x" }, ["init"]));
  await assert.rejects(powers.gitLoop({ mirror: "/x" }, ["cat-file"]));
  assert.deepEqual(seen.map((env) => env["GIT_DEFAULT_REF_FORMAT"]), ["files", "files"]);
});
