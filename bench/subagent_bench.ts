/**
 * A subagent from the call that starts it to its first words, beside a task of the pool from its request to its first
 * words: the same scripted model, in turns in the same kernel.
 * @module
 */
import { benchRequest, startBenchKernel } from "./_kernel.ts";
import { median } from "./quantile.ts";
import { atMost, type Row } from "./row.ts";

const ROUNDS = 9;
/** Pause between rounds, milliseconds: the pool fills while nothing is asked. */
const CALM = 120;

/** Whoever started it thinks about its next call meanwhile, as a model does. */
const LEAD = `scenario: lead
turns:
  - { when: { user: HELPER }, say: I help. }
  - when: { inference: 1 }
    calls: [{ tool: agent_spawn, args: { request: HELPER } }]
  - when: { inference: 2 }
    stream: { firstMs: 1000 }
    calls: [{ tool: agent_wait, args: { agent: "{{ tool.agent_spawn | json /agent }}" } }]
  - { when: { always: true }, say: Done. }
`;

/** The median of both, in milliseconds. */
export async function subagent(): Promise<readonly Row[]> {
  const kernel = await startBenchKernel();
  try {
    const task: number[] = [], child: number[] = [];
    // Of each process its first words, and when they came.
    const first = new Map<number, number>();
    kernel.heard = (event, body) => {
      const { pid = 0 } = body as { readonly pid?: number };
      if (event === "inferred" && !first.has(pid)) first.set(pid, performance.now());
    };
    for (let round = -1; round < ROUNDS; round++) {
      first.clear();
      const began = performance.now();
      const { exit } = await kernel.finish(benchRequest(LEAD));
      const [lead = NaN, helper = NaN] = [...first.values()];
      if (exit !== 0 || first.size !== 2) throw new Error(`Cannot time a subagent: exit ${exit}`);
      if (round >= 0) {
        task.push(lead - began);
        child.push(helper - lead);
      }
      // TIMER: as between a person's requests.
      await new Promise((resolve) => setTimeout(resolve, CALM));
    }
    const figure = { name: "subagent, from its call to its first words", unit: "ms" };
    return [
      atMost(
        { ...figure, value: median(child), baseline: median(task) },
        1.3,
        "a task of the pool",
      ),
    ];
  } finally {
    await kernel.close();
  }
}
