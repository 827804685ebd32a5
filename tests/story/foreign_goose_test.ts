/** The row of goose, which no registry has: a program of that name, in its dialect, within the walls. */
import assert from "node:assert/strict";
import { AGENT_KEY } from "../fake/foreign_agent.ts";
import { processesNaming } from "../fake/processes.ts";
import { type Finished, type Machine, onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { alicesPlans } from "../fake/scenes.ts";
import { startScripted } from "../fake/scripted_provider.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { needs } from "../needs.ts";

/** Adds it from a folder with a program `goose`, and hands it one request. */
async function runGoose(
  machine: Machine,
  origin: string,
  applied: "allow" | "deny",
): Promise<Finished> {
  const tree = `${machine.dir}/../goose`;
  await Deno.mkdir(tree);
  const source = new URL("../fake/foreign_agent/goose.js", import.meta.url);
  await Deno.copyFile(source, `${tree}/goose.js`);
  await Deno.writeTextFile(
    `${tree}/goose`,
    `#!/bin/sh\nexec env DENO_NO_UPDATE_CHECK=1 ${Deno.execPath()} run --quiet --no-config --allow-all "\${0%/*}/goose.js" "$@"\n`,
    { mode: 0o755 },
  );
  await machine.remit(
    ["secret", "set", "mine", "--origin", origin, "--header", "authorization"],
    `${AGENT_KEY}\n`,
  );
  const added = await machine.remit([
    ...["agent", "add", "goose", "--from", tree, "--provider", origin, "--secret", "mine"],
  ]);
  assert.equal(added.code, 0, added.stderr);
  assert.match(added.stderr, /added goose: \S+\/goose\/goose acp\n/);
  const answers = await machine.write(
    "../answers.json",
    JSON.stringify({
      answers: [
        { tool: "command", answer: "allow", max: 1 },
        { tool: "patch_apply", path: "plans/trip.txt", answer: applied, max: 1 },
      ],
    }),
  );
  return await machine.remit([
    ...["run", "--agent", "goose", "-p", "Move the trip", ...await alicesPlans(machine)],
    ...["--answers", answers, "--json"],
  ]);
}

Deno.test("goose works one change on a copy, which is reviewed, applied, undone and found in the record", async () => {
  if (!needs("bwrap")) return;
  await using provider = startScripted(
    "sed -i s/Monday/Tuesday/ trip.txt; cat /*/.ssh/id_rsa /home/*/.ssh/id_rsa",
  );
  await onMachine(async (machine) => {
    const home = machine.env["HOME"] ?? "";
    await Deno.mkdir(`${home}/.ssh`);
    await Deno.writeTextFile(`${home}/.ssh/id_rsa`, "alice's own key\n");
    const done = await runGoose(machine, provider.origin, "allow");
    assert.equal(done.code, 0, `${done.stderr}${done.stdout}`);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday.\nTake the boat.\n");
    assert.equal(provider.asked.length, 2);
    for (const { headers, target, body } of provider.asked) {
      assert.equal(target, "/v1/chat/completions");
      assert.equal(headers.get("authorization"), AGENT_KEY, "the relay's, not the agent's");
      assert.equal(JSON.parse(body).model, "gpt-5");
      assert.doesNotMatch(body, /alice's own key/);
    }
    const run = readRun(done.stdout);
    assert.ok(run.spent.inputTokens >= 20, done.stdout);
    assert.equal((await machine.remit(["undo", run.task])).code, 0);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
  });
});

Deno.test("goose is killed in the middle of its turn: the run says so, what it changed is put to the person as ever, no process is left", async () => {
  if (!needs("bwrap")) return;
  await using provider = startScripted("sed -i s/Monday/Tuesday/ trip.txt; kill -9 $PPID");
  await onMachine(async (machine) => {
    const done = await runGoose(machine, provider.origin, "deny");
    const { answer = "" } = readRun(done.stdout);
    assert.match(answer, /the agent failed: it ended before it answered/, done.stdout);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
    await waitUntil(
      "the end of goose",
      async () => (await processesNaming(`${machine.dir}/../goose`)).length === 0 || undefined,
    );
    await waitUntil(
      "the end of goose, by its real path",
      async () =>
        (await processesNaming(await Deno.realPath(`${machine.dir}/../goose`))).length === 0 ||
        undefined,
    );
  });
});
