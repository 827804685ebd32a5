import { equal, rejects, throws } from "node:assert/strict";
import type { JsonObject } from "../../contracts/base/mod.ts";
import type { DeclaredTools } from "../../contracts/authority/origin.ts";
import type { GrantedCall, ProcessRow } from "../../contracts/task/mod.ts";
import { declareBinding } from "./declare_tool.ts";

/** The tool over a process, and what it declared. */
function over(row: Partial<ProcessRow>) {
  const declared: DeclaredTools[] = [];
  const process = {
    ...{ pid: 1, colour: "BLUE", snapshot: { tools: [{ name: "mcp_bank_pay" }] } },
    ...row,
  } as unknown as ProcessRow;
  const binding = declareBinding({
    redeem: () => {},
    processOf: () => process,
    declare: (_task, tools) => void declared.push(tools),
  });
  const resolve = (args: JsonObject): unknown => binding.resolve(args, process);
  const invoke = (args: JsonObject) =>
    binding.invoke({ args } as unknown as GrantedCall, new AbortController().signal);
  return { declared, resolve, invoke };
}

const ARGS = { tools: [{ tool: "mcp_bank_pay", max: 2 }] };

Deno.test("what a task declares is kept with its outcome, as it was said", async () => {
  const { resolve, invoke, declared } = over({});
  resolve(ARGS);
  equal(JSON.stringify((await invoke(ARGS)).record), JSON.stringify({ declared: ARGS.tools }));
  equal(declared.length, 1);
});

Deno.test("mallory's letter declares nothing, nor does an agent that another started, nor a name that no tool has", async () => {
  throws(() => over({ colour: "RED" }).resolve(ARGS), /others wrote was read before/);
  throws(() => over({ colour: "YELLOW" }).resolve(ARGS), /others wrote was read before/);
  throws(
    () => over({ ppid: 1 as never }).resolve(ARGS),
    /the agent that works for the person does/,
  );
  throws(() => over({}).resolve({ tools: [{ tool: "mcp_bank_gone", max: 1 }] }), /no tool has/);
  throws(() => over({}).resolve({ tools: [{ tool: "A B", max: 1 }] }), /as the list of tools/);
  await rejects(over({}).invoke({ tools: [] }), /as the list of tools/);
});
