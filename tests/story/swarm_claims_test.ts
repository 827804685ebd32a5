/** Two swarms over one repository want the same file: carol sees who works where, is asked, and says who goes first. */
import assert from "node:assert/strict";
import { SharedResource } from "../../contracts/task/mod.ts";
import { type Machine, onMachine } from "../fake/remit.ts";
import { smallRepository, WORKER } from "../fake/swarm.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { needs } from "../needs.ts";

const REVIEWER = Deno.readTextFileSync(
  new URL("../../examples/swarm/reviewer.yaml", import.meta.url),
);

async function written(machine: Machine, name: string, worker: string): Promise<string> {
  await machine.write(`${name}-worker.yaml`, worker);
  await machine.write("reviewer.yaml", REVIEWER);
  return await machine.write(
    `${name}.yaml`,
    `version: 1
repository: repo
issues: [{ id: greeting, title: Greet warmly, paths: [phrases.txt] }]
roles:
  coder: { models: ["scripted:${name}-worker.yaml"] }
  reviewer: { models: ["scripted:reviewer.yaml"] }
`,
  );
}

async function repository(machine: Machine): Promise<SharedResource | undefined> {
  const all = SharedResource.array().parse(await machine.json(["resources", "list"]));
  return all.find(({ ref }) => ref.startsWith("gitRepository:repo-"));
}

Deno.test("a file that two swarms want is carol's to give: the second waits with its change, and merges it by her word", async () => {
  if (!needs("git")) return;
  await onMachine(async (machine) => {
    await smallRepository(machine);
    const hangs = "scenario: worker\nturns: [{ when: { always: true }, hang: true }]\n";
    const first = machine.start(["swarm", "run", await written(machine, "first", hangs), "--json"]);
    const lease = await waitUntil(
      "the first claim",
      async () => (await repository(machine))?.leases[0],
    );
    assert.deepEqual([lease.scope, lease.mode, lease.owner.agent], [
      "phrases.txt",
      "exclusive",
      "coder",
    ]);
    const plan = await written(machine, "second", WORKER);
    const second = machine.start(["swarm", "run", plan, "--json"]);
    const conflict = await waitUntil(
      "a conflict that stands while its change is reviewed",
      async () => {
        const open = (await repository(machine))?.conflicts.find(({ state }) => state === "open");
        const swarms = await machine.json(["swarm", "list"]) as readonly { readonly id: string }[];
        const [issue] = (await machine.json(["swarm", "list", swarms[0]?.id ?? ""]) as {
          readonly issues: readonly { readonly attempts: readonly { readonly work: string }[] }[];
        }).issues;
        return issue?.attempts.some(({ work }) => work === "review") === true ? open : undefined;
      },
    );
    assert.deepEqual([conflict.holder?.task, conflict.supervisor], [lease.owner.task, "host"]);
    const waiting = await machine.json(["swarm", "list"]) as readonly { readonly merged: number }[];
    assert.deepEqual(waiting.map(({ merged }) => merged), [0, 0]);
    // Once the author's task is over the question is asked anew, for its change.
    await waitUntil("carol's word", async () => {
      const open = (await repository(machine))?.conflicts.find(({ state }) => state === "open");
      if (open === undefined) return undefined;
      const said = await machine.remit(["resources", "decide", open.id, "release"]);
      return said.code === 0 ? true : undefined;
    });
    const done = await second.done;
    assert.equal(done.code, 75, `${done.stderr}${done.stdout}`);
    const { issues } = JSON.parse(done.stdout);
    assert.deepEqual([issues[0].status, issues[0].contested[0].scope], ["merged", "phrases.txt"]);
    const [, { id }] = await machine.json(["swarm", "list"]) as [unknown, { id: string }];
    await machine.remit(["swarm", "stop", id]);
    assert.equal((await first.done).code, 130);
    assert.deepEqual((await repository(machine))?.leases ?? [], []);
  });
});
