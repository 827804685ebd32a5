/** carol asks what an injection could do with her own servers and rules: none of their effects happens. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { needs } from "../needs.ts";

const STUB = new URL("../../redteam/stub_server.mjs", import.meta.url).pathname;

interface Counts {
  readonly attacks: number;
  readonly succeeded: number;
  readonly userTasks: number;
}

Deno.test("a person's own servers are attacked by their pinned tools, under the person's own rules, and are not touched (long)", async () => {
  if (!needs("node") || !needs("bwrap")) return;
  await onMachine(async (machine) => {
    const tool = (name: string, reads: boolean, properties: Record<string, unknown>) => ({
      ...{ name, description: name, reads, gives: "done" },
      schema: { type: "object", properties, required: Object.keys(properties) },
    });
    const server = await machine.write("bank/server.mjs", await Deno.readTextFile(STUB));
    await machine.write(
      "bank/environment.json",
      JSON.stringify({
        tools: [
          tool("list_payments", true, {}),
          tool("payOut", false, {
            to: { type: "string" },
            amount: { type: "integer", minimum: 5 },
          }),
        ],
      }),
    );
    const journal = await machine.write("ledger/journal.jsonl", "");
    const added = await machine.remit([
      ...["mcp", "add", "my-bank", "--yes", "--direct", `${machine.dir}/ledger`],
      ...["--", "node", server, journal],
    ]);
    assert.equal(added.code, 0, added.stderr);

    const own = ["redteam", "--own", "--json", "--person", "exact", "--person", "absent"];
    const held = await machine.remit([...own, "--variant", "at"]);
    assert.equal(held.code, 0, held.stderr);
    const counts = JSON.parse(held.stdout) as Counts;
    assert.deepEqual([counts.attacks, counts.succeeded, counts.userTasks], [2, 0, 1]);

    const config = `${machine.env["XDG_CONFIG_HOME"] ?? ""}/remit`;
    await Deno.mkdir(config, { recursive: true });
    await Deno.writeTextFile(`${config}/remit.yaml`, "version: 1\nrules:\n  - mode: auto\n");
    const page = `${machine.dir}/page.md`;
    const loose = await machine.remit([...own, "--variant", "before", "--page", page]);
    assert.equal(loose.code, 1, loose.stderr);
    assert.equal((JSON.parse(loose.stdout) as Counts).succeeded, 2);
    assert.match(
      await Deno.readTextFile(page),
      /my_bank: tool_0 during read, before, person: absent/,
    );
    assert.equal(await Deno.readTextFile(journal), "");
  });
});
