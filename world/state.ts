/** The state of a world: its clock, people with memories, and log. @module */
import * as z from "zod";
import { Colour } from "../contracts/authority/mod.ts";
import { Fault } from "../contracts/base/mod.ts";
import { Memory, remember } from "./memory.ts";
import type { World } from "./world_file.ts";

/** Maximum number of happenings kept. */
const MAX_LOG = 50_000;
/** Maximum number of pairs whose meetings are counted. */
const MAX_PAIRS = 4_950;

const Name = z.string().min(1).max(32);

/** Something said aloud in a room. */
const Utterance = z.object({
  by: Name,
  room: Name,
  text: z.string().max(1_000),
}).strict();
/** See {@link WorldState}. */
export type Utterance = z.infer<typeof Utterance>;

/** Something that happened. `task`: the task whose log contains it. */
const Happening = z.object({
  at: z.int().min(0),
  who: Name,
  room: Name,
  kind: z.enum(["planned", "said", "moved", "did", "reflected", "misfit"]),
  text: z.string().max(2_000),
  task: z.string().max(16),
}).strict();
/** See {@link WorldState}. */
export type Happening = z.infer<typeof Happening>;

const PersonState = z.object({
  room: Name,
  /** The people seen last. */
  company: z.string().max(4_096),
  plan: z.array(
    z.object({ from: z.int().min(0).max(23), does: z.string().max(300), where: Name }).strict(),
  ).max(24),
  /** Colour of the plan's sources. */
  planColour: Colour,
  /** Day of the plan; -1 before the first. */
  planned: z.int().min(-1),
  memory: z.array(Memory).max(5_000),
  /** Sum of importance since the last reflection. */
  stirred: z.int().min(0),
  reflections: z.object({ day: z.int().min(-1), count: z.int().min(0) }).strict(),
  spent: z.object({
    steps: z.int().min(0),
    misfits: z.int().min(0),
    tokens: z.int().min(0),
    money: z.number().min(0),
  }).strict(),
}).strict();
/** One person of a {@link WorldState}. */
export type PersonState = z.infer<typeof PersonState>;

const State = z.object({
  version: z.literal(1),
  world: Name,
  /** Minutes since the first midnight. */
  clock: z.int().min(0),
  people: z.record(Name, PersonState),
  /** Said in the last step, heard in the next. */
  talk: z.array(Utterance).max(1_000),
  log: z.array(Happening).max(MAX_LOG),
  /** Steps that two people spent in one room, by `A and B`. */
  meetings: z.record(z.string().max(80), z.int().min(0)),
}).strict();
/** The state of a running world. */
export type WorldState = z.infer<typeof State>;

/** The initial state of a world, or an existing state with the people that the file has added since. */
export function beginWorld(world: World, before?: WorldState): WorldState {
  if (before !== undefined && before.world !== world.world) {
    throw new Fault(
      "conflict",
      `Cannot go on with "${world.world}": what stands there is "${before.world}"`,
    );
  }
  const rooms = new Set(world.rooms.map(({ name }) => name));
  const { clock = world.day.from * 60, talk = [], log = [], meetings = {} } = before ?? {};
  const people = world.people.map(({ name, home, knows }): [string, PersonState] => {
    const found = before?.people[name];
    // The file may no longer have the room.
    if (found !== undefined) {
      return [name, { ...found, room: rooms.has(found.room) ? found.room : home }];
    }
    const known = knows.map((text) => ({
      ...{ at: clock, kind: "knows" as const, text, importance: 7, source: "file" },
      // From a file that nobody has reviewed.
      colour: "YELLOW" as const,
    }));
    return [name, {
      ...{ room: home, company: "", plan: [], planned: -1, stirred: 0 },
      planColour: "BLUE" as const,
      memory: [...remember([], known, world.memory.keeps)],
      reflections: { day: -1, count: 0 },
      spent: { steps: 0, misfits: 0, tokens: 0, money: 0 },
    }];
  });
  return {
    ...{ version: 1, world: world.world, clock, talk, log, meetings },
    people: Object.fromEntries(people),
  };
}

/**
 * Parses a stored state.
 * @throws Fault `storeCorrupt`
 */
export function parseState(text: string, file: string): WorldState {
  try {
    return State.parse(JSON.parse(text));
  } catch (cause) {
    throw new Fault(
      "storeCorrupt",
      `Cannot read the world in "${file}": it does not parse; "remit world run FILE --fresh" begins anew`,
      { cause },
    );
  }
}

/**
 * Encodes a state for {@link parseState}.
 * @throws Fault `storeCorrupt` for a state that could not be parsed again
 */
export function writeState(state: WorldState): string {
  const checked = State.safeParse(state);
  if (checked.success) return JSON.stringify(state);
  const [issue] = checked.error.issues;
  throw new Fault(
    "storeCorrupt",
    `Cannot keep the world "${state.world}": it could not be read again (${
      issue?.path.join(".")
    }: ${issue?.message}); what stood before it stays`,
  );
}

/** Appends happenings and drops the oldest. */
export function logged(
  log: readonly Happening[],
  more: readonly Happening[],
): WorldState["log"] {
  return [...log, ...more].slice(-MAX_LOG);
}

/** Counts the meetings of this step. */
export function metNow(
  meetings: WorldState["meetings"],
  people: WorldState["people"],
): WorldState["meetings"] {
  const next = { ...meetings };
  const byRoom = Map.groupBy(Object.keys(people).toSorted(), (name) => people[name]?.room ?? "");
  for (const there of byRoom.values()) {
    there.forEach((one, at) => {
      for (const other of there.slice(at + 1)) {
        const pair = `${one} and ${other}`;
        if (next[pair] === undefined && Object.keys(next).length >= MAX_PAIRS) continue;
        next[pair] = (next[pair] ?? 0) + 1;
      }
    });
  }
  return next;
}
