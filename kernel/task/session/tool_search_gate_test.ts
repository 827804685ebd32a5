/** Many imported tools behind the gate: a model searches for what it needs, with a real kernel, server and bridge. */
import { deepEqual, equal, match } from "node:assert/strict";
import { ASKING_SERVER, EVAL_WORDS, withMcp } from "../../../tests/fake/mcp_siege.ts";
import { HAS_BWRAP } from "../../_fixture/small_children.ts";

const WORDS = [
  ...EVAL_WORDS,
  ...Array.from({ length: 40 }, (_, n) => ({
    name: `moon_phase_${n}`,
    description: `Phase of the moon ${n}.`,
    inputSchema: { type: "object" },
  })),
];

const FOUND = `
  - when: { result: { tool: mcp_hostile_eval } }
    say: "It said {{ tool.mcp_hostile_eval }}."
  - when: { result: { tool: tool_search }, offered: [mcp_hostile_eval], notOffered: [mcp_hostile_moon_phase_7] }
    calls: [{ tool: mcp_hostile_eval, args: { code: "return 6 * 7" } }]
  - when: { offered: [tool_search], notOffered: [mcp_hostile_eval, mcp_hostile_moon_phase_7] }
    calls: [{ tool: tool_search, args: { query: "eval" } }]`;

Deno.test({
  name: "alice's model is told of no imported tool until it looks for one, and calls that at once",
  ignore: !HAS_BWRAP,
  fn: () =>
    withMcp(async (siege) => {
      const server = await siege.server(ASKING_SERVER, { words: WORDS });
      const task = await siege.run({ mcp: [server], turns: FOUND });
      equal((await task.end).status, "done");
      match(String((await task.task())["answer"]), /It said 42/);
      const outcomes = task.events.filter(({ event }) => event === "outcome");
      deepEqual(
        outcomes.map(({ body }) => [body["tool"], body["outcome"], body["colour"]]),
        [["tool_search", "ok", "RED"], ["mcp_hostile_eval", "ok", "RED"]],
      );
      // The gate knew all of them from the first: one snapshot, which was never made anew.
      const snapshots = task.events.filter(({ event }) => event === "descriptors");
      equal(snapshots.length, 1);
      match(JSON.stringify(snapshots[0]?.body), /mcp_hostile_moon_phase_39/);
    }),
});

Deno.test({
  name: "with few imported tools a model is told of all of them at once",
  ignore: !HAS_BWRAP,
  fn: () =>
    withMcp(async (siege) => {
      const server = await siege.server(ASKING_SERVER);
      const task = await siege.run({
        mcp: [server],
        turns: `
  - when: { offered: [mcp_hostile_eval, mcp_hostile_look] }
    say: all there`,
      });
      equal((await task.end).status, "done");
      equal((await task.task())["answer"], "all there");
    }),
});
