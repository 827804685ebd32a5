/** Where swarms lie, and what their journals say. @module */
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { readState, type SwarmHands, type SwarmState } from "../../swarm/mod.ts";
import type { Places } from "../../launch/disk/places.ts";

/** Files and folders of one swarm, absolute. */
export interface SwarmPlaces {
  readonly journal: string;
  readonly lock: string;
  /** Its presence asks whoever runs the swarm to end. */
  readonly stop: string;
  readonly mirror: string;
  /** Trees of workers: beside the state, since nothing in the state is ever a mount. */
  readonly rooms: string;
}

const ID = /^sw[0-9a-z]{12}$/;

/** The folders of a swarm. */
export function swarmPlaces({ state }: Pick<Places, "state">, id: string): SwarmPlaces {
  const folder = join(state, "swarm", id);
  return {
    journal: join(folder, "journal.jsonl"),
    lock: join(folder, "lock"),
    stop: join(folder, "stop"),
    mirror: join(folder, "mirror.git"),
    rooms: join(`${state}.swarm`, id),
  };
}

/** Ids of the swarms that there are, oldest name first. */
function swarmIds(
  hands: Pick<SwarmHands, "names">,
  { state }: Pick<Places, "state">,
): readonly string[] {
  return hands.names(join(state, "swarm")).filter((name) => ID.test(name));
}

/** The state of one swarm, or undefined where its journal says nothing yet. @throws Fault `notFound`, `conflict` */
export function swarmState(
  hands: Pick<SwarmHands, "names" | "past">,
  places: Pick<Places, "state">,
  id: string,
): SwarmState {
  const state = ID.test(id) ? readState(hands.past(swarmPlaces(places, id).journal)) : undefined;
  if (state !== undefined) return state;
  throw new Fault(
    "notFound",
    `Cannot find swarm ${
      JSON.stringify(id.slice(0, 80))
    }: "remit swarm list" names those that there are`,
  );
}

/** Every swarm, the newest first; those whose journal cannot be read apart, with why. */
export function swarmStates(
  hands: Pick<SwarmHands, "names" | "past">,
  places: Pick<Places, "state">,
): {
  readonly states: readonly SwarmState[];
  readonly unread: readonly { readonly id: string; readonly why: string }[];
} {
  const states: SwarmState[] = [], unread: { id: string; why: string }[] = [];
  for (const id of swarmIds(hands, places)) {
    try {
      const state = readState(hands.past(swarmPlaces(places, id).journal));
      if (state !== undefined) states.push(state);
    } catch (error) {
      // Of an earlier version, or damaged: the others are no worse for it.
      if (!(error instanceof Fault)) throw error;
      unread.push({ id, why: error.message });
    }
  }
  return { states: states.sort((a, b) => b.begun.at - a.begun.at), unread };
}
