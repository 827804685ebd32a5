/** Review of a reflection by a person: kept or forgotten. Used by cli/world/show_commands.ts. @module */
import { Fault } from "../contracts/base/mod.ts";
import type { WorldState } from "./state.ts";

/**
 * Keeps or forgets reflection `n` of a person. A kept reflection is YELLOW: written by a model, read by a person.
 * @throws Fault `notFound` if no such reflection waits
 */
export function reviewReflection(
  state: WorldState,
  { person, n, keep }: { readonly person: string; readonly n: number; readonly keep: boolean },
): WorldState {
  const own = Object.hasOwn(state.people, person) ? state.people[person] : undefined;
  const found = own?.memory.find((each) => each.n === n && each.review === "open");
  if (own === undefined || found === undefined) {
    throw new Fault(
      "notFound",
      `Cannot review #${n} of ${
        JSON.stringify(person.slice(0, 64))
      }: no reflection of that number waits; "remit world show ${
        own === undefined ? "" : person
      }" lists them`,
    );
  }
  const memory = keep
    ? own.memory.map((each) =>
      each === found ? { ...each, colour: "YELLOW" as const, review: "kept" as const } : each
    )
    : own.memory.filter((each) => each !== found);
  return { ...state, people: { ...state.people, [person]: { ...own, memory } } };
}
