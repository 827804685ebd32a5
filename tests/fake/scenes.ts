/** Small scenarios for the scripted model, with a folder for them. */
import type { Machine } from "./remit.ts";

/** alice's folder `plans` with one note, and the words that mount it: `--mount plans=…`. */
export async function alicesPlans(machine: Machine): Promise<readonly string[]> {
  await machine.write("plans/trip.txt", "Leave on Monday.\nTake the boat.\n");
  return ["--mount", `plans=${machine.dir}/plans`];
}

/** A model that reads `plans/trip.txt`, stages Tuesday for Monday, and requests the change. */
export const MOVES_THE_TRIP = `
scenario: moves the trip
turns:
  - say: I read the plan.
    calls: [{ tool: file_read, args: { path: plans/trip.txt } }]
  - say: I move the trip.
    calls:
      - tool: file_edit
        args: { path: plans/trip.txt, old: Monday, new: Tuesday }
  - calls: [{ tool: patch_apply }]
  - when: { result: { tool: patch_apply, outcome: ok } }
    say: The trip is on Tuesday now.
  - when: { result: { tool: patch_apply } }
    say: "I was told: {{ tool.patch_apply }}"
`;

/** Writes a scenario; gives the words that choose it: `--model …`. */
export async function playing(machine: Machine, scenario: string): Promise<readonly string[]> {
  const path = await machine.write("model.yaml", scenario);
  return ["--model", `scripted:${path}`];
}
