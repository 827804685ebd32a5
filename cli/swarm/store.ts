/** Paths of swarms, and the states read from their journals. @module */
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { readState, type SwarmPowers, type SwarmState } from "../../swarm/mod.ts";
import type { Command } from "../command.ts";
import { storeChoice } from "../../launch/kernel/store_choice.ts";

/** Folders for the swarms of a state, absolute. */
export interface SwarmHome {
  /** Journals and mirrors. */
  readonly folder: string;
  /** Trees of workers. */
  readonly rooms: string;
  /** Any kernel of this machine that shares its work may take the tasks, and any of their states may resume a swarm. */
  readonly shared: boolean;
}

/** Folders beside the state; in the shared folder of kernels that share their work. */
export function swarmHome(
  { powers, places }: Pick<Command<"disk" | "environment">, "powers" | "places">,
): SwarmHome {
  const work = storeChoice(powers.disk, places, powers.environment)?.work;
  const folder = join(work ?? places.state, "swarm");
  // Trees of workers are mounted, and nothing within a state may be.
  return work === undefined
    ? { folder, rooms: `${places.state}.swarm`, shared: false }
    : { folder, rooms: join(work, "swarm.rooms"), shared: true };
}

/** Files and folders of one swarm, absolute. */
export interface SwarmPlaces {
  readonly journal: string;
  readonly lock: string;
  /** Its existence asks the running swarm to end. */
  readonly stop: string;
  readonly mirror: string;
  /** Trees of workers. */
  readonly rooms: string;
}

const ID = /^sw[0-9a-z]{12}$/;

/** The paths of a swarm. */
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

/** Ids of all swarms, sorted. */
function swarmIds(
  powers: Pick<SwarmPowers, "names">,
  { folder }: SwarmHome,
): readonly string[] {
  return powers.names(folder).filter((name) => ID.test(name));
}

/** The state of one swarm. @throws Fault `notFound`, `conflict` */
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

/** Every swarm, the newest first; separately those whose journal cannot be read, with the reason. */
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
      // Written by another version, or damaged; the other swarms are unaffected.
      if (!(error instanceof Fault)) throw error;
      unread.push({ id, why: error.message });
    }
  }
  return { states: states.sort((a, b) => b.begun.at - a.begun.at), unread };
}
