/** Parses the command line. An unknown word is an error that lists the known ones. @module */
import { parseArgs } from "node:util";
import { Fault } from "../../contracts/base/mod.ts";
import {
  COMMANDS,
  type CommandSpec,
  COMMON_FLAGS,
  findCommand,
  type FlagSpec,
} from "./command_table.ts";
import { familyLines } from "./help.ts";
import { nearest } from "../../text/nearest.ts";

/** A parsed command line. */
export interface Parsed {
  readonly command: CommandSpec;
  readonly args: readonly string[];
  /** Values of flags, in the order given; a switch that is on has one empty value. */
  readonly flags: ReadonlyMap<string, readonly string[]>;
  /** Whether a `--` ends the flags. */
  readonly dashed?: true;
}

/** The last value of a flag. */
export function flag(parsed: Parsed, name: string): string | undefined {
  return parsed.flags.get(name)?.at(-1);
}

/** Whether a switch is on. */
export function has(parsed: Parsed, name: string): boolean {
  return parsed.flags.has(name);
}

/** The value of a flag that takes one of a few words. Throws `invalidInput`. */
export function oneOf<W extends string>(
  parsed: Parsed,
  name: string,
  words: readonly W[],
): W | undefined {
  const given = flag(parsed, name);
  if (given === undefined) return undefined;
  const found = words.find((word) => word === given);
  if (found === undefined) {
    throw wrong(`Cannot read --${name} "${given}": it takes ${words.join(", ")}`);
  }
  return found;
}

function wrong(message: string): Fault {
  return new Fault("invalidInput", message);
}

/** A suggestion, if one is near, and all possible words. */
function meant(word: string, all: readonly string[], there = "there is"): string {
  const near = nearest(word, all);
  return `${near === undefined ? "" : `did you mean ${near}? `}${there} ${all.join(", ")}`;
}

function firstWords(): string[] {
  return [...new Set(COMMANDS.map((each) => each.name.split(" ")[0] ?? ""))].filter((each) =>
    each !== ""
  );
}

function chooseCommand(words: readonly string[]): { command: CommandSpec; used: number } {
  const [first, second] = words;
  const session = findCommand("");
  if (session === undefined) throw new TypeError("Cannot parse: no session command");
  if (first === undefined) return { command: session, used: 0 };
  const pair = second === undefined ? undefined : findCommand(`${first} ${second}`);
  if (pair !== undefined) return { command: pair, used: 2 };
  const single = findCommand(first);
  if (single !== undefined) return { command: single, used: 1 };
  // `remit tasks`, like `remit questions`: the plural lists things.
  const listed = first.endsWith("s") ? findCommand(`${first.slice(0, -1)} list`) : undefined;
  if (listed !== undefined) return { command: listed, used: 1 };
  const family = COMMANDS.filter((each) => each.name.startsWith(`${first} `));
  if (family.length > 0) {
    const verbs = family.map((each) => each.name.slice(first.length + 1));
    throw wrong(
      second === undefined
        ? [`Cannot run "${first}": say which: ${verbs.join(", ")}`, ...familyLines(first)].join(
          "\n",
        )
        : `Cannot run "${first} ${second}": ${meant(second, verbs)}`,
    );
  }
  throw wrong(`Cannot run "${first}": ${meant(first, firstWords())}`);
}

/** The flag of this name or short name. */
export function findFlag(flags: readonly FlagSpec[], name: string): FlagSpec | undefined {
  return flags.find((each) => each.name === name || each.short === name);
}

/** The words that are not flags, as far as is known before the command is. */
function leadingWords(argv: readonly string[]): string[] {
  const everyFlag = [...COMMON_FLAGS, ...COMMANDS.flatMap((each) => each.flags)];
  const words: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? "";
    if (word === "--") break;
    if (!word.startsWith("-") || word === "-") {
      words.push(word);
      continue;
    }
    if (word.includes("=")) continue;
    const spec = findFlag(everyFlag, word.replace(/^--?/, ""));
    if (spec?.value !== undefined) at++;
  }
  return words;
}

/**
 * Parses the words after the program's name.
 *
 * @throws Fault `invalidInput` for a word, flag or count that does not exist.
 */
export function parseArguments(argv: readonly string[]): Parsed {
  const { command, used } = chooseCommand(leadingWords(argv));
  const specs = [...command.flags, ...COMMON_FLAGS];
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(specs.map((spec) => [spec.name, {
      type: spec.value === undefined ? "boolean" as const : "string" as const,
      ...(spec.short === undefined ? {} : { short: spec.short }),
      multiple: true,
    }])),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const args: string[] = [];
  const flags = new Map<string, string[]>();
  const title = command.name === "" ? "remit" : `remit ${command.name}`;
  for (const token of tokens) {
    if (token.kind === "positional") args.push(token.value);
    if (token.kind !== "option") continue;
    const spec = findFlag(specs, token.name);
    if (spec === undefined) {
      const all = specs.map((each) => `--${each.name}`);
      throw wrong(
        `Cannot read ${token.rawName}: ${meant(token.rawName, all, `${title} takes`)}`,
      );
    }
    if (spec.value === undefined && token.value !== undefined) {
      throw wrong(`Cannot read --${spec.name}=…: it is a switch and takes no value`);
    }
    const dashed = token.inlineValue !== true && token.value !== undefined &&
      token.value.startsWith("-") && token.value !== "-";
    if (spec.value !== undefined && (token.value === undefined || dashed)) {
      throw wrong(`Cannot read --${spec.name}: it needs a value, --${spec.name}=${spec.value}`);
    }
    const values = flags.get(spec.name) ?? [];
    if (values.length > 0 && spec.many !== true && spec.value !== undefined) {
      throw wrong(`Cannot read --${spec.name}: it is given twice`);
    }
    flags.set(spec.name, [...values, token.value ?? ""]);
  }
  const rest = args.slice(used);
  const asked = flags.has("help") || flags.has("version");
  const [min, max] = command.takes;
  if (!asked && (rest.length < min || rest.length > max)) {
    throw wrong(
      `Cannot run "${title}" with ${rest.length} argument${rest.length === 1 ? "" : "s"}: it is ${
        `${title} ${command.args}`.trim()
      }${command.args.startsWith("TASK") ? ` ("remit task list" names tasks)` : ""}`,
    );
  }
  const marked = tokens.some(({ kind }) => kind === "option-terminator");
  return { command, args: rest, flags, ...(marked ? { dashed: true } : {}) };
}

/** Argument patterns of commands whose first argument names a task. */
export const TAKES_TASK = /^\[?TASK(\|NAME)?\]?( |$)/;

/** Whether a command's first argument names a task, perhaps by a prefix of its id. */
export function takesTask({ args, command }: Parsed): boolean {
  return args.length > 0 && TAKES_TASK.test(command.args);
}
