import assert from "node:assert/strict";
import type { AgentTask } from "../../contracts/task/mod.ts";
import { makeCallJoin } from "../audit/join_calls.ts";
import { didLines, resultDocument, showClosing } from "./closing.ts";
import { makeTally, type Tally } from "./tally.ts";

/** The count of calls, each with its outcome; undefined for none. */
function tallyOf(
  ...calls: (readonly [tool: string, effect: string, outcome: string | undefined, args?: object])[]
): Tally {
  const tally = makeTally(), join = makeCallJoin();
  const seen = (event: string, body: object, inner: object = {}): void =>
    tally.take(join({ n: 1, at: 1, event, body: { ...body }, private: { ...inner } }));
  calls.forEach(([tool, effect, outcome, args = {}], n) => {
    seen("intent", { call: `c${n}`, tool, effect }, { arguments: JSON.stringify(args) });
    if (outcome !== undefined) seen("outcome", { call: `c${n}`, tool, outcome });
  });
  return tally;
}

function closing(tally: Tally): string {
  const lines: string[] = [];
  const paint = new Proxy({}, { get: () => (text: string) => text }) as never;
  const screen = { paint, width: 100, say: (line: string) => void lines.push(line) } as never;
  showClosing(screen, RESULT, tally);
  return lines.join("\n");
}
const RESULT = {
  task: { id: "t", status: "done", model: "m" } as unknown as AgentTask,
  ...{ exit: 0, changes: [], receipts: [], head: "h" },
};

Deno.test("a closing counts what imported tools, peers, programs and the network were told, whatever came back", () => {
  const tally = tallyOf(
    ["mcp_bank_send_money", "destructive", "ok"],
    ["mcp_bank_send_money", "destructive", "executionError"],
    ["mcp_bank_read_file", "read", "ok"],
    ["a2a_harbour_tides", "outboundWrite", undefined],
    ["command", "read", "ok", { program: "make\u001b[2J" }],
    ["http_fetch", "outboundWrite", "ok"],
    ["file_read", "read", "ok", { path: "desk/a.md" }],
    ["patch_apply", "mutateLocal", "ok"],
  );
  assert.deepEqual(didLines(tally.did), [
    "mcp_bank_send_money: 2 calls of an imported server (destructive), 1 came to an error",
    "mcp_bank_read_file: 1 call of an imported server (read)",
    "a2a_harbour_tides: 1 call to a peer (outboundWrite), 1 with no known outcome",
    "command make\\u{1b}[2J: 1 run of a program (read)",
    "http_fetch: 1 call over the network (outboundWrite)",
  ]);
  const said = closing(tally);
  assert.match(said, /did +mcp_bank_send_money: 2 calls/);
  assert.match(said, /changed +no files/);
  assert.doesNotMatch(said, /changed +nothing/);
  assert.deepEqual(
    (resultDocument(RESULT, tally)["did"] as Tally["did"]).map(({ kind, calls }) => [kind, calls]),
    [["imported", 2], ["imported", 1], ["peer", 1], ["command", 1], ["network", 1]],
  );
});

Deno.test("a task that did nothing elsewhere still changed nothing, and refused calls are no deeds", () => {
  const tally = tallyOf(["file_read", "read", "ok"]);
  tally.take({ n: 1, at: 1, event: "refused", body: { tool: "mcp_bank_send_money" }, private: {} });
  assert.deepEqual(tally.did, []);
  assert.match(closing(tally), /changed +nothing/);
});
