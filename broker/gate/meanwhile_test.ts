/** What came in while a call ran: shown after its result, in one commit with it, or neither. */
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { Fault } from "../../contracts/base/mod.ts";
import type { Meanwhile } from "../../contracts/task/mod.ts";
import type { TestTool } from "../_fixture/test_tool.ts";
import { makeWorld, type World } from "../_fixture/world.ts";

const FREE = { rules: [{ mode: "auto", at: "remit.yaml:1" }] } as const;
const SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";

/** A tool during whose call something comes in; what became of it. */
function asking(world: World, tool: Partial<TestTool>, content = "| hello"): string[] {
  const became: string[] = [];
  const binding = world.add({ name: "ask", effect: "outboundWrite", ...tool });
  const came: Meanwhile = {
    ...{ content, colour: "RED", label: "internal" },
    sources: [{ source: "peer desk", colour: "RED", label: "internal" }],
    events: [{ kind: "inbox", body: { entry: "m1" } }],
    documents: [{
      kind: "inbox",
      id: "m1",
      task: "waiting",
      expect: 0,
      body: { state: "delivered" },
    }],
    kept: () => void became.push("kept"),
    dropped: () => void became.push("dropped"),
  };
  world.tools.set("ask", { ...binding, meanwhile: () => Promise.resolve(came) });
  return became;
}

Deno.test("what came in is shown uncut after a result that was cut, redacted, and committed with the outcome", async () => {
  const world = await makeWorld({ policy: FREE });
  const became = asking(
    world,
    { resultBytes: 100, invoke: () => Promise.resolve({ content: "x".repeat(1_000) }) },
    `| ${"y".repeat(500)} ${SECRET}`,
  );
  const result = await world.call("ask");
  equal(result.outcome, "ok");
  match(
    result.content,
    /^x{50}\n⟨cut: 100 of 1000 bytes shown; sha256 [0-9a-f]{64}⟩\nx{50}\n\| y{500} /,
  );
  equal(result.content.includes(SECRET), false);
  deepEqual([result.colour, result.label], ["RED", "internal"]);
  const [outcome, told] = world.log.events.slice(-2);
  deepEqual([outcome?.kind, told?.kind, outcome?.commit], ["outcome", "inbox", told?.commit]);
  equal(world.log.documents.get("m1")?.body["state"], "delivered");
  deepEqual(became, ["kept"]);
  deepEqual(outcome?.private?.["sources"], [
    { source: "peer desk", colour: "RED", label: "internal" },
  ]);
  equal(world.alice.colour, "RED");
});

Deno.test("a call that failed shows what came in, and its process is as RED as that", async () => {
  const world = await makeWorld({ policy: FREE });
  const became = asking(world, {
    invoke: () => Promise.reject(new Fault("upstream", "Cannot ask: it died")),
  });
  const result = await world.call("ask");
  deepEqual([result.outcome, result.content, result.colour], ["executionError", "| hello", "RED"]);
  deepEqual([became, world.alice.colour], [["kept"], "RED"]);
});

Deno.test("what the budget has no room for is not shown, and would have counted as delivered", async () => {
  const world = await makeWorld({ policy: FREE });
  const became = asking(world, { invoke: () => Promise.resolve({ content: "done" }) });
  const { charge } = world.processes;
  let left = 1;
  world.processes.charge = (pid, usage) => {
    if ("resultBytes" in usage && left-- <= 0) {
      throw new Fault("budgetExhausted", "Cannot go on: the budget is spent");
    }
    return charge(pid, usage);
  };
  const result = await world.call("ask");
  deepEqual([result.outcome, result.content], ["ok", "done"]);
  deepEqual([became, world.log.documents.has("m1")], [["dropped"], false]);
});

Deno.test("where the outcome cannot be written nothing of it is, and a call that waits for a person delivers nothing", async () => {
  const full = await makeWorld({ policy: FREE });
  const became = asking(full, {
    invoke: () => {
      full.log.full = true;
      return Promise.resolve({ content: "done" });
    },
  });
  await rejects(full.call("ask"), { code: "storeFull" });
  deepEqual([became, full.log.documents.has("m1")], [["dropped"], false]);

  const waiting = await makeWorld({ policy: FREE });
  const waits = asking(waiting, {
    invoke: () => Promise.reject(new Fault("needsApproval", "Cannot go on: a person is asked")),
  });
  await rejects(waiting.call("ask"), { code: "needsApproval" });
  deepEqual(waits, ["dropped"]);
});
