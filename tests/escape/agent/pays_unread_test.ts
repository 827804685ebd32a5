/**
 * An agent of others holds a copy of a folder in which strangers may have written, and calls a tool of its task. Were its
 * call judged by the task's own colour, which is that of a task that read nothing, a payment would go on unasked.
 */
import { deepEqual, equal, match } from "node:assert/strict";
import { EXIT } from "../../../contracts/base/mod.ts";
import type { Question } from "../../../contracts/authority/mod.ts";
import { addForeign, handOver, startProvider } from "../../fake/foreign_agent.ts";
import { type Machine, onMachine } from "../../fake/remit.ts";
import { alicesPlans } from "../../fake/scenes.ts";
import { needs } from "../../needs.ts";

const STUB = new URL("../../../redteam/stub_server.mjs", import.meta.url);
const ARGS = '{"to":"DE02-RENT","amount":900}';

/** A bank; gives what it did, a line each. */
async function bank(machine: Machine): Promise<() => Promise<string>> {
  const schema = {
    ...{ type: "object", required: ["to", "amount"] },
    properties: { to: { type: "string" }, amount: { type: "number" } },
  };
  const tools = [{ name: "transfer", description: "Moves.", reads: false, gives: "done", schema }];
  await machine.write("srv/environment.json", JSON.stringify({ tools }));
  await machine.write("srv/server.mjs", await Deno.readTextFile(STUB));
  await machine.write("did/journal.jsonl", "");
  const added = await machine.remit([
    ...["mcp", "add", "bank", "--direct", `${machine.dir}/did`, "--yes", "--", "node"],
    ...[`${machine.dir}/srv/server.mjs`, `${machine.dir}/did/journal.jsonl`],
  ]);
  equal(added.code, 0, added.stderr);
  return () => machine.read("did/journal.jsonl");
}

Deno.test("a payment by an agent of others that was handed a folder asks, although its values stand in the request", async () => {
  if (!needs("node")) return;
  await using provider = startProvider();
  await onMachine(async (machine) => {
    await alicesPlans(machine);
    const did = await bank(machine);
    await addForeign(machine, provider);
    const run = await handOver(machine, [`tool mcp_bank_transfer ${ARGS}`]);
    equal(run.code, EXIT.waiting, run.output);
    equal(await did(), "");
    const [question] = await machine.json(["questions"]) as Question[];
    equal(question?.scope.tool, "mcp_bank_transfer");
    equal(question?.scope.colour, "YELLOW", "its copy is that of a folder");
    deepEqual(question?.origins?.map(({ from }) => from), ["request", "request"]);

    // The same call of a task that read nothing goes on: it is what the copy holds that asks.
    const play = await machine.write(
      "play.yaml",
      `scenario: pay\nturns:\n  - calls: [{ tool: mcp_bank_transfer, args: ${ARGS} }]\n` +
        "  - { say: Done., loop: true }\n",
    );
    const own = await machine.remit([
      ...["run", "-p", `tool mcp_bank_transfer ${ARGS}`, "--model", `scripted:${play}`],
      ...["--tools", "all", "--on-question", "deny"],
    ]);
    equal(own.code, 0, own.stderr);
    match(await did(), /DE02-RENT/);
  });
});
