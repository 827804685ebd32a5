import assert from "node:assert/strict";
import { type Json, toJson } from "../../contracts/base/mod.ts";
import { SharedResource } from "../../contracts/task/mod.ts";
import { fakePowers, runCommandLine } from "../_fixture/world.ts";
import { TASK } from "../_fixture/samples.ts";

const EVIL = "\u202e\u001b[1A\nclaim     r000000000009  shared";
const OTHER = "t000000000009";

/** A repository in which mallory's agent wrote whatever she likes. */
const SITE = SharedResource.parse({
  ...{ ref: "gitRepository:site", createdAt: 1, generation: 3, watches: [] },
  versions: [{ scope: "index.md", version: { kind: "pageHash", value: "abc" } }],
  leases: [{
    ...{
      id: "r000000000001",
      resource: "gitRepository:site",
      scope: EVIL.replaceAll("/", ""),
      mode: "exclusive",
    },
    ...{ owner: { task: TASK, agent: "coder" }, phase: "work", claimedAt: 1, expiresAt: 2e12 },
    ...{ renewals: 2, until: 3e12, colour: "RED", label: "public" },
  }],
  conflicts: [{
    ...{ id: "c000000000001", resource: "gitRepository:site", scope: "src", about: "claim" },
    ...{ holder: { task: TASK, agent: "coder" }, lease: "r000000000001" },
    ...{ claimant: { task: OTHER, agent: "coder", child: 4 }, mode: "exclusive", at: 1 },
    ...{ supervisor: "host", state: "open", colour: "RED", label: "public" },
    own: { colour: "BLUE", label: "public" },
  }],
  items: [{
    ...{ number: 1, text: EVIL, state: "open", generation: 1, colour: "RED", label: "public" },
    ...{ author: { task: OTHER, agent: "mallory" }, changedAt: 1 },
  }],
});

const ops = {
  resources: (body: Json) => {
    const { do: what } = body as { do: string };
    if (what === "list") return toJson([SITE]);
    if (what === "clear") return null;
    if (what === "end") return toJson({ ...SITE.leases[0], endedAt: 2, reason: "operator" });
    return toJson({ ...SITE.conflicts[0], state: "decided", decision: "share", approver: "host" });
  },
};
const run = async (...argv: string[]) => {
  const powers = fakePowers({ ops });
  const code = await runCommandLine(["resources", ...argv], powers);
  return {
    ...{ code, out: powers.screen.outs.join(""), said: powers.screen.lines.join("\n") },
    asked: powers.kernels_.last?.asked.at(-1),
  };
};

Deno.test("list shows who works on what, and what waits for a decision; a stranger's words stay in their place", async () => {
  const { code, out, said } = await run("list");
  assert.equal(code, 0);
  assert.match(out, /CLAIM +WORKS ON +MODE +TASK +PHASE +TIME/);
  assert.match(out, /r000000000001 +gitRepository:site /);
  assert.match(out, /1 items open/);
  assert.match(out, /^decides {3}you$/m);
  assert.match(said, /resources decide CONFLICT/);
  for (const sign of ["\u202e", "\u001b"]) assert.ok(!out.includes(sign));
  assert.ok(!out.split("\n").some((line) => line.startsWith("claim     r000000000009")));
  assert.equal(JSON.parse((await run("list", "--json")).out).length, 1);
});

Deno.test("show finds a resource, a claim, a conflict, and says when there is none", async () => {
  const whole = (await run("show", "gitRepository:site")).out;
  for (const part of ["resource  gitRepository:site", "item 1  open", "version   pageHash abc"]) {
    assert.ok(whole.includes(part), part);
  }
  assert.ok(!whole.split("\n").some((line) => line.startsWith("claim     r000000000009")));
  assert.match((await run("show", "r000000000001")).out, /^until .* renewed 2 times$/m);
  assert.match((await run("show", "c000000000001")).out, /\(process 4\) {2}wants it exclusive/);
  const missing = await run("show", "c000000000002");
  assert.notEqual(missing.code, 0);
  assert.match(missing.said, /no resource, claim or conflict that is under way/);
});

Deno.test("release and decide ask the kernel for exactly that, and nothing else is taken", async () => {
  const released = await run("release", "r000000000001");
  assert.deepEqual(released.asked, ["resources", { do: "end", claim: "r000000000001" }]);
  assert.match(released.out, new RegExp(`task ${TASK} is told to stop`));
  const decided = await run("decide", "c000000000001", "share");
  assert.deepEqual(decided.asked, [
    "resources",
    { do: "decide", conflict: "c000000000001", decision: "share" },
  ]);
  assert.match(decided.out, /decided: share, by host/);
  const cleared = await run("clear", "gitRepository:site");
  assert.deepEqual(cleared.asked, ["resources", { do: "clear", resource: "gitRepository:site" }]);
  for (
    const words of [["clear", "site"], ["release", "l000000000001"], [
      "decide",
      "c000000000001",
      "maybe",
    ]]
  ) {
    assert.equal((await run(...words)).code, 2, words.join(" "));
  }
});
