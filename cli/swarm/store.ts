/** Where swarms lie, and what their journals say. @module */
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { readState, type SwarmPowers, type SwarmState } from "../../swarm/mod.ts";
import type { Command } from "../command.ts";
import { storeChoice } from "../../launch/kernel/store_choice.ts";

/** Where the swarms of a state lie, absolute. */
export interface SwarmHome {
  /** Journals and mirrors. */
  readonly folder: string;
  /** Trees of workers. */
  readonly rooms: string;
  /** Any kernel of this machine that shares its work may do the tasks, and any of their states go on with a swarm. */
  readonly shared: boolean;
}

/** Beside the state; in the folder that kernels of one machine share, where they do. */
export function swarmHome(
  { powers, places }: Pick<Command<"disk" | "environment">, "powers" | "places">,
): SwarmHome {
  const work = storeChoice(powers.disk, places, powers.environment)?.work;
  const folder = join(work ?? places.state, "swarm");
  // Nothing in a state is ever a mount.
  return work === undefined
    ? { folder, rooms: `${places.state}.swarm`, shared: false }
    : { folder, rooms: join(work, "swarm.rooms"), shared: true };
}

/** Files and folders of one swarm, absolute. */
export interface SwarmPlaces {
  readonly journal: string;
  readonly lock: string;
  /** Its presence asks whoever runs the swarm to end. */
  readonly stop: string;
  readonly mirror: string;
  /** Trees of workers. */
  readonly rooms: string;
}

const ID = /^sw[0-9a-z]{12}$/;

/** The folders of a swarm. */
export function swarmPlaces(home: SwarmHome, id: string): SwarmPlaces {
  const folder = join(home.folder, id);
  return {
    journal: join(folder, "journal.jsonl"),
    lock: join(folder, "lock"),
    stop: join(folder, "stop"),
    mirror: join(folder, "mirror.git"),
    rooms: join(home.rooms, id),
  };
}

/** Ids of the swarms that there are, oldest name first. */
function swarmIds(
  powers: Pick<SwarmPowers, "names">,
  { folder }: SwarmHome,
): readonly string[] {
  return powers.names(folder).filter((name) => ID.test(name));
}

/** The state of one swarm, or undefined where its journal says nothing yet. @throws Fault `notFound`, `conflict` */
export function swarmState(
  powers: Pick<SwarmPowers, "names" | "past">,
  home: SwarmHome,
  id: string,
): SwarmState {
  const state = ID.test(id) ? readState(powers.past(swarmPlaces(home, id).journal)) : undefined;
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
  powers: Pick<SwarmPowers, "names" | "past">,
  home: SwarmHome,
): {
  readonly states: readonly SwarmState[];
  readonly unread: readonly { readonly id: string; readonly why: string }[];
} {
  const states: SwarmState[] = [], unread: { id: string; why: string }[] = [];
  for (const id of swarmIds(powers, home)) {
    try {
      const state = readState(powers.past(swarmPlaces(home, id).journal));
      if (state !== undefined) states.push(state);
    } catch (error) {
      // Of an earlier version, or damaged: the others are no worse for it.
      if (!(error instanceof Fault)) throw error;
      unread.push({ id, why: error.message });
    }
  }
  return { states: states.sort((a, b) => b.begun.at - a.begun.at), unread };
}
