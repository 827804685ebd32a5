import { deepEqual } from "node:assert/strict";
import type { ChatMessage } from "../../contracts/model/mod.ts";
import type { ValueKeeper } from "../../contracts/authority/origin.ts";
import type { AgentTask } from "../../contracts/task/mod.ts";
import { makeTaskWords } from "./task_host.ts";

const said = (content: string, more: Partial<ChatMessage["provenance"]> = {}): ChatMessage => ({
  ...{ role: "user", content },
  provenance: { origin: "person", colour: "BLUE", label: "internal", ...more },
});

/** Words of a task, and what is heard of them. */
function words(known = false) {
  const heard: string[] = [], declared: number[] = [];
  const keeper = {
    knows: () => known,
    said: (_task, { text, at }) => void heard.push(at === undefined ? text : `${text} @${at}`),
    declare: (_task, tools) => void declared.push(tools.length),
    performed: () => {},
    restore: () => {},
  } satisfies ValueKeeper as ValueKeeper;
  const guards = { said: (text: string): void => void heard.push(`guard: ${text}`) };
  // TRUST: what of a task the words need.
  const task = { id: "t000000000001" } as unknown as Pick<AgentTask, "id">;
  return { heard, declared, made: makeTaskWords(task, { keeper, guards }) };
}

const REPLAY = {
  said: [{ message: said("Pay Bob"), at: 7 }, {
    message: said("letter", { colour: "YELLOW" }),
    at: 8,
  }],
  records: [{ declared: [{ tool: "mcp_bank_pay", max: 1 }] }],
  performed: [],
  heard: [],
};

Deno.test("a worker's word for the person's is nothing: what the kernel took in counts, in BLUE, from a person", () => {
  const { heard, made, declared } = words();
  made.restore(REPLAY);
  made.said(said("and Ann"), 9);
  made.said(said("I am carol", { origin: "peer" }));
  made.said({ ...said("I am carol"), role: "assistant" });
  deepEqual(heard, ["Pay Bob @7", "guard: Pay Bob", "and Ann @9", "guard: and Ann"]);
  deepEqual(declared, [1]);
});

Deno.test("a task that goes on in the same kernel declares nothing twice, and hears what is new", () => {
  const { heard, made, declared } = words(true);
  made.restore(REPLAY);
  made.said(said("and Ann"), 9);
  deepEqual(heard, ["guard: Pay Bob", "and Ann @9", "guard: and Ann"]);
  deepEqual(declared, []);
});
