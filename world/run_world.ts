/**
 * Runs the hours of a world. A step is atomic: everybody acts on the state at its beginning, and
 * the results are combined in a fixed order, so that equal answers give the same world however fast
 * they arrive. Used by report.ts and cli/world/run_command.ts.
 * @module
 */
import { type Memory, remember } from "./memory.ts";
import { type Happening, logged, metNow, type PersonState, type WorldState } from "./state.ts";
import { type Answered, makeSteps, MAX_HEARD, type Scene, shapesOf, type Step } from "./step.ts";
import type { Person, World } from "./world_file.ts";

/** The powers of a run. */
export interface WorldPowers {
  /** Runs one step as a task of its own. Rejects only if no further step can run. */
  ask(step: Step): Promise<Answered>;
  /** Stores the complete state synchronously. */
  save(state: WorldState): void;
  /** Receives the happenings of a step. */
  heard(happenings: readonly Happening[]): void;
  /** Whether the person wants the run to stop. */
  stopped(): boolean;
  /** Number of simultaneous steps. */
  readonly lanes: number;
}

/** How a run ended. */
export interface WorldEnd {
  readonly state: WorldState;
  /** `failed`: nobody had an answer in a step, which is not part of the state. */
  readonly end: "hours" | "money" | "tokens" | "stopped" | "failed";
  readonly why?: string;
}

type Entry = Omit<Memory, "n" | "used">;

/** One person's results of a step. */
interface Turn {
  readonly person: Person;
  readonly entries: readonly Entry[];
  readonly happenings: readonly Happening[];
  readonly change: Partial<PersonState>;
  readonly says: string;
  readonly answers: readonly Answered[];
  readonly misfits: number;
}

/** Runs `hours` hours of a world from `state` on. */
export async function runWorld(
  world: World,
  state: WorldState,
  { hours, powers }: { readonly hours: number; readonly powers: WorldPowers },
): Promise<WorldEnd> {
  const shapes = shapesOf(world);
  const steps = makeSteps(world, shapes);
  const until = state.clock + hours * 60;
  const before = spentIn(state);
  const { money, tokens } = world.limits;

  const act = async (now: WorldState, person: Person): Promise<Turn> => {
    const own = now.people[person.name];
    if (own === undefined) throw new TypeError(`Cannot act: "${person.name}" is nowhere`);
    const answers: Answered[] = [];
    const entries: Entry[] = [];
    const happenings: Happening[] = [];
    let misfits = 0;
    let change: Partial<PersonState> = {};
    const here = Object.keys(now.people).filter((name) =>
      name !== person.name && now.people[name]?.room === own.room
    ).toSorted();
    const heard = now.talk.filter(({ by, room }) => by !== person.name && room === own.room)
      .slice(-MAX_HEARD);
    const happened = (kind: Happening["kind"], text: string, { task }: Answered): void =>
      void happenings.push({ at: now.clock, who: person.name, room: own.room, kind, text, task });
    /** Asks and parses the answer; an invalid answer is recorded and has no effect. */
    const asked = async <T>(
      step: Step,
      read: (answer: string) => T | string,
    ): Promise<{ readonly value: T; readonly answered: Answered } | undefined> => {
      const answered = await powers.ask(step);
      answers.push(answered);
      const value = answered.answer === undefined
        ? answered.why ?? "it said nothing"
        : read(answered.answer);
      if (typeof value !== "string") return { value, answered };
      misfits += 1;
      happened("misfit", `${step.template.name}: ${value.slice(0, 500)}`, answered);
      return undefined;
    };

    const day = Math.floor(now.clock / 1_440);
    let scene: Scene = { now: now.clock, state: own, here, heard };
    if (own.planned < day) {
      const step = steps.plan(person, scene);
      const found = await asked(step, shapes.readPlan);
      const plan = found?.value ?? [];
      change = { plan: [...plan], planned: day, planColour: step.colour };
      if (found !== undefined) {
        // Twelve long lines would exceed an entry.
        const text = plan.map(({ from, does, where }) => `${from}:00 ${does} (${where})`)
          .join("; ").slice(0, 2_000);
        happened("planned", text, found.answered);
        entries.push({
          ...{ at: now.clock, kind: "plan", text, importance: 4, source: "self" },
          colour: step.colour,
        });
      }
      scene = { ...scene, state: { ...own, ...change } };
    }
    const step = steps.act(person, scene);
    const found = await asked(step, shapes.readAct);
    const { does = "", says = "", goes = own.room, importance = 3 } = found?.value ?? {};
    entries.push(...perceived(scene, importance));
    if (found !== undefined) {
      const self = { at: now.clock, source: "self", colour: step.colour };
      entries.push({ ...self, kind: "did", text: does, importance: 3 });
      happened("did", does, found.answered);
      if (says !== "") {
        entries.push({ ...self, kind: "said", text: says, importance: 3 });
        happened("said", says, found.answered);
      }
      if (goes !== own.room) happened("moved", goes, found.answered);
    }
    return {
      ...{ person, entries, happenings, says, answers, misfits },
      change: { ...change, room: goes, company: here.join(", ") },
    };
  };

  const reflect = async (now: WorldState, person: Person): Promise<Turn | undefined> => {
    const own = now.people[person.name];
    const day = Math.floor(now.clock / 1_440);
    if (own === undefined || own.stirred < world.reflect.after) return undefined;
    const count = own.reflections.day === day ? own.reflections.count : 0;
    if (count >= world.reflect.most) return undefined;
    const step = steps.reflect(person, { now: now.clock, state: own, here: [], heard: [] });
    const answered = await powers.ask(step);
    const insights = answered.answer === undefined
      ? answered.why ?? "it said nothing"
      : shapes.readReflection(answered.answer);
    const change = { stirred: 0, reflections: { day, count: count + 1 } };
    const common = { at: now.clock, who: person.name, room: own.room, task: answered.task };
    const done = { person, change, says: "", answers: [answered] };
    if (typeof insights === "string") {
      const text = `${step.template.name}: ${insights.slice(0, 500)}`;
      return {
        ...done,
        entries: [],
        misfits: 1,
        happenings: [{ ...common, kind: "misfit", text }],
      };
    }
    return {
      ...{ ...done, misfits: 0 },
      entries: insights.map((text) => ({
        ...{ at: now.clock, kind: "reflection", text, importance: 6, source: "self" },
        // INVARIANT: derived from what others said, so RED until a person has reviewed it
        // (test: "a reflection is RED …").
        ...{ colour: "RED", review: "open" },
      })),
      happenings: insights.map((text) => ({ ...common, kind: "reflected", text })),
    };
  };

  let now = state;
  while (now.clock < until) {
    if (powers.stopped()) return { state: now, end: "stopped" };
    const spent = spentIn(now);
    if (spent.money - before.money >= money && spent.money > before.money) {
      return { state: now, end: "money" };
    }
    if (spent.tokens - before.tokens >= tokens) return { state: now, end: "tokens" };
    const hour = Math.floor((now.clock % 1_440) / 60);
    if (hour < world.day.from || hour >= world.day.to) {
      now = { ...now, talk: [], clock: now.clock + world.step };
      continue;
    }
    const order = shuffled(world.people, world.seed + now.clock);
    const acted = now;
    const turns = await inLanes(order, powers.lanes, (person) => act(acted, person));
    const answers = turns.flatMap((turn) => turn.answers);
    if (answers.every(({ answer }) => answer === undefined)) {
      const why = answers.find((each) => each.why !== undefined)?.why ?? "nobody said anything";
      return { state: now, end: "failed", why };
    }
    const after = together(world, { ...now, meetings: metNow(now.meetings, now.people) }, turns);
    const thoughts = await inLanes(order, powers.lanes, (person) => reflect(after, person));
    const found = thoughts.filter((each) => each !== undefined);
    now = { ...together(world, after, found), talk: after.talk, clock: now.clock + world.step };
    powers.save(now);
    powers.heard([...turns, ...found].flatMap(({ happenings }) => happenings));
  }
  powers.save(now);
  return { state: now, end: "hours" };
}

/** Entries of what a person saw and heard; others' words are always RED. */
function perceived({ now, state, here, heard }: Scene, importance: number): Entry[] {
  const company = here.join(", ");
  const saw: Entry[] = company === state.company || company === "" ? [] : [{
    ...{ at: now, kind: "saw", source: "world", colour: "BLUE", importance: 1 },
    text: `${company} in ${state.room}`.slice(0, 2_000),
  }];
  return [
    ...saw,
    ...heard.map(({ by, text }): Entry => ({
      ...{ at: now, kind: "heard", text, importance, source: by, colour: "RED" },
    })),
  ];
}

/** Combines the results of people into the state, in order. */
function together(world: World, state: WorldState, turns: readonly Turn[]): WorldState {
  const people = { ...state.people };
  for (const { person, entries, change, answers, misfits } of turns) {
    const own = people[person.name];
    if (own === undefined) continue;
    const stirring = entries.filter(({ kind }) => kind === "heard" || kind === "saw");
    const sum = (of: (answered: Answered) => number): number =>
      answers.reduce((all, each) => all + of(each), 0);
    people[person.name] = {
      ...own,
      stirred: own.stirred + stirring.reduce((all, each) => all + each.importance, 0),
      ...change,
      memory: [...remember(own.memory, entries, world.memory.keeps)],
      spent: {
        steps: own.spent.steps + answers.length,
        misfits: own.spent.misfits + misfits,
        tokens: own.spent.tokens + sum(({ tokens }) => tokens),
        money: own.spent.money + sum(({ money }) => money),
      },
    };
  }
  const talk = turns.filter(({ says }) => says !== "").map(({ person, says }) => ({
    ...{ by: person.name, room: state.people[person.name]?.room ?? "", text: says },
  }));
  const happenings = turns.flatMap((turn) => turn.happenings);
  return { ...state, people, talk, log: logged(state.log, happenings) };
}

/** The total cost of a world. */
export function spentIn(state: WorldState): { readonly money: number; readonly tokens: number } {
  const all = Object.values(state.people).map(({ spent }) => spent);
  return {
    money: all.reduce((sum, { money }) => sum + money, 0),
    tokens: all.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

/** A permutation determined by the seed (mulberry32, Fisher–Yates). */
function shuffled<T>(list: readonly T[], seed: number): readonly T[] {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const order = [...list];
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = Math.floor(next() * (at + 1));
    const [one, two] = [order[at], order[other]];
    if (one !== undefined && two !== undefined) [order[at], order[other]] = [two, one];
  }
  return order;
}

/** Runs `work` for each item, `lanes` at a time; returns the results in the given order. */
async function inLanes<T, R>(
  list: readonly T[],
  lanes: number,
  work: (each: T) => Promise<R>,
): Promise<R[]> {
  const done = new Map<number, R>();
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < list.length; at = next++) {
      const each = list[at];
      if (each === undefined) continue;
      done.set(
        at,
        await work(each).catch((error: unknown) => {
          // Do not start work whose result would be discarded.
          next = list.length;
          throw error;
        }),
      );
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(lanes, list.length)) }, lane));
  return [...done].toSorted(([a], [b]) => a - b).map(([, value]) => value);
}
