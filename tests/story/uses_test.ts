/** carol bounds what her wikis take in of a day: the kernel counts it, also when it is killed in between. */
import assert from "node:assert/strict";
import { kill9 } from "../fake/processes.ts";
import { onMachine } from "../fake/remit.ts";

const CONFIG = `version: 1
budgets:
  - { per: day, sources: 3 }
  - { per: month, indexBytes: 500000000 }
  - { per: day, money: 5 }
`;

Deno.test("carol's fourth source of the day is refused, also after kill -9; cost and status say how the budget stands", async () => {
  await onMachine(async (machine) => {
    await machine.write("remit.yaml", CONFIG);
    await machine.remit(["trust"]);
    for (const name of ["a", "b", "c"]) {
      await machine.write(`docs/${name}.md`, `# ${name}\n\nText.\n`);
    }
    await machine.write("late.md", "# Late\n\nToo late.\n");
    assert.equal((await machine.remit(["wiki", "init", "memory"])).code, 0);
    const taken = await machine.remit(["wiki", "ingest", "docs"]);
    assert.equal(taken.code, 0, taken.stderr);
    for (const pid of await machine.processes()) kill9(pid);
    const refused = await machine.remit(["wiki", "ingest", "late.md"]);
    assert.notEqual(refused.code, 0, refused.stdout);
    assert.match(
      refused.stderr,
      /Cannot take sources in: the budget of 3 sources a day is used up \(3 sources used, 1 sources more asked for\); raise it in "budgets" of remit.yaml/,
    );
    const found = await machine.remit(["wiki", "query", "Too late"]);
    assert.doesNotMatch(found.stdout, /Late/, "nothing of it was taken in");
    const { budgets, uses } = await machine.json(["cost"]) as {
      budgets: { money: number; name: string }[];
      uses: { of: string; spent: number; most: number }[];
    };
    assert.deepEqual(budgets.map(({ money, name }) => [money, name]), [
      [5, "the budget of 5 USD a day"],
    ]);
    const [sources, index] = uses;
    assert.deepEqual([sources?.of, sources?.spent, sources?.most], ["sources", 3, 3]);
    assert.equal(index?.of, "indexBytes");
    assert.ok((index?.spent ?? 0) > 1_000, "the index grew");
    const table = await machine.remit(["cost"]);
    assert.match(
      table.stdout,
      /the budget of 3 sources a day: 3 used, 0 left, used up, goes on in/,
    );
    const status = await machine.remit(["status"]);
    assert.match(status.stdout, /budget +the budget of 3 sources a day: 3 used, 0 left/);
  });
});
