/** The file of a world: its rooms, its people, what they recall, and what a run may cost. @module */
import { parse } from "yaml";
import * as z from "zod";
import { Fault } from "../contracts/base/mod.ts";

/** Maximum length of a world file, UTF-16 units. */
const MAX_LENGTH = 1_000_000;

const Name = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/);
const Words = z.string().trim().min(1).max(2_000);

/** A world file. */
const World = z.object({
  world: Name,
  /** Description of the world. */
  about: Words,
  /** Decides the order of people; the same seed and a scripted model give the same days. */
  seed: z.int().min(0).max(4_294_967_295).default(1),
  /** Hours of the day during which people are awake. */
  day: z.object({
    from: z.int().min(0).max(22).default(7),
    to: z.int().min(1).max(24).default(23),
  }).strict().default({ from: 7, to: 23 }),
  /** Minutes of one step. */
  step: z.union([10, 15, 20, 30, 60].map((minutes) => z.literal(minutes))).default(60),
  rooms: z.array(z.object({ name: Name, about: Words }).strict()).min(1).max(64),
  people: z.array(
    z.object({
      name: Name,
      persona: Words,
      /** The room where the first day begins. */
      home: Name,
      /** Initial knowledge. */
      knows: z.array(Words).max(32).default([]),
    }).strict(),
  ).min(1).max(100),
  memory: z.object({
    /** Entries shown in a step. */
    recalls: z.int().min(1).max(50).default(8),
    /** Maximum entries of a person; the least important old ones are dropped. */
    keeps: z.int().min(20).max(5_000).default(500),
  }).strict().default({ recalls: 8, keeps: 500 }),
  reflect: z.object({
    /** Sum of importance since the last reflection that triggers the next. */
    after: z.int().min(1).max(10_000).default(40),
    /** Maximum reflections of a person in a day. */
    most: z.int().min(0).max(24).default(2),
  }).strict().default({ after: 40, most: 2 }),
  /** Cost limits of one run, which stops between two steps when one is reached. */
  limits: z.object({
    money: z.number().min(0).max(1_000_000).default(1),
    tokens: z.int().min(1).max(1_000_000_000).default(5_000_000),
    /** Maximum tokens of one answer. */
    answer: z.int().min(16).max(8_192).default(400),
  }).strict().default({ money: 1, tokens: 5_000_000, answer: 400 }),
}).strict().check((context) => {
  const { rooms, people, day } = context.value;
  const wrong = (message: string, path: (string | number)[]): void => {
    context.issues.push({ code: "custom", message, input: context.value, path });
  };
  if (day.to <= day.from) wrong("the day ends before it begins", ["day", "to"]);
  for (const [key, list] of [["rooms", rooms], ["people", people]] as const) {
    list.forEach(({ name }, at) => {
      if (list.findIndex((each) => each.name === name) < at) {
        wrong(`"${name}" stands twice`, [key, at]);
      }
    });
  }
  people.forEach(({ home }, at) => {
    if (!rooms.some(({ name }) => name === home)) {
      wrong(`there is no room "${home}"`, ["people", at, "home"]);
    }
  });
});
/** See {@link parseWorld}. */
export type World = z.infer<typeof World>;
/** A person of a world. */
export type Person = World["people"][number];

/**
 * Parses the text of a world file. `file` is its name for errors.
 * @throws Fault `invalidInput`
 */
export function parseWorld(text: string, file: string): World {
  const refuse = (why: string, cause?: unknown): Fault =>
    new Fault("invalidInput", `Cannot read the world "${file}": ${why}`, { cause });
  if (text.length > MAX_LENGTH) throw refuse(`it is longer than ${MAX_LENGTH} characters`);
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: 100, stringKeys: true });
  } catch (cause) {
    throw refuse(cause instanceof Error ? cause.message.split("\n", 1)[0] ?? "" : "no YAML", cause);
  }
  const parsed = World.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw refuse(`${(issue?.path ?? []).map(String).join(".")}: ${issue?.message}`);
}

/** `07:20`, with the day unless it is the first. Minutes since the first midnight. */
export function clockWords(minutes: number): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const [day, rest] = [Math.floor(minutes / 1_440), minutes % 1_440];
  const time = `${two(Math.floor(rest / 60))}:${two(rest % 60)}`;
  return day === 0 ? time : `day ${day + 1}, ${time}`;
}
