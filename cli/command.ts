/** What all commands share: their powers and flags, access to the kernel, printing. @module */
import { TaskId } from "../contracts/authority/ids.ts";
import { EXIT, Fault, type Json } from "../contracts/base/mod.ts";
import type { Ingress, Profile } from "../contracts/task/mod.ts";
import { displayText } from "../text/mod.ts";
import type { loadConfig } from "../config/files.ts";
import type { Basic, PowerName, Powers } from "./powers.ts";
import type { KernelLink, KernelWish } from "../launch/kernel/kernels.ts";
import type { Parsed } from "./arguments/parse_arguments.ts";
import { flag } from "./arguments/parse_arguments.ts";
import { absolute, type Places } from "../launch/disk/places.ts";
import { safeJson } from "./terminal/safe_json.ts";

/** A running command, with the powers of its family. */
export interface Command<K extends PowerName = Basic> {
  readonly powers: Pick<Powers, K>;
  readonly parsed: Parsed;
  readonly places: Places;
  readonly json: boolean;
}

/** A command whose family has powers that few of its commands need. */
export interface LazyCommand<K extends PowerName, L extends PowerName> extends Command<K> {
  /** Loads those powers, and returns the command with them. */
  more(): Promise<Command<K | L>>;
}

/** A command's work; returns the exit code. */
export type Work<K extends PowerName = Basic> = (command: Command<K>) => Promise<number>;

/** Reaches the kernel, and starts one when none runs: only a kernel reads the log, tasks and questions. */
export async function reachKernel(command: Command): Promise<KernelLink> {
  const { powers, places } = command;
  // Loaded lazily: reading remit.yaml takes a hundred files, which few commands need.
  const { loadConfig } = await import("../config/files.ts");
  const config = loadConfig(powers.disk, places, { folder: powers.environment.cwd, mounts: [] });
  return await powers.kernels(places).provide(wishOf(config, { mounts: [], exact: false }));
}

/** The kernel that remit.yaml asks for. */
export function wishOf(
  { policy, toolKeys, commands, browser, service }: Pick<
    ReturnType<typeof loadConfig>,
    "policy" | "toolKeys" | "commands" | "browser" | "service"
  >,
  how: Pick<KernelWish, "mounts" | "exact" | "foreign">,
): KernelWish {
  const { idleMinutes } = service.kernel;
  return { policy, toolKeys, commands, browser, idleMinutes, ...how };
}

/** Works over a link to the kernel, which is closed afterwards. */
export async function withKernel<T>(
  command: Command,
  work: (link: KernelLink) => Promise<T>,
): Promise<T> {
  const link = await reachKernel(command);
  try {
    return await work(link);
  } finally {
    link.close();
  }
}

/** Asks the kernel one question. */
export async function askKernel(command: Command, op: string, body: Json): Promise<Json> {
  return await withKernel(command, (link) => link.ask(op, body));
}

/** The bytes of a file named on the command line. `verb`: the verb of its error, as in `verify`. Throws Fault `notFound`. */
export function givenFile(
  { powers: { disk, environment } }: Command,
  file: string,
  verb: string,
  options?: { readonly most: number },
): Uint8Array {
  const bytes = disk.read(absolute(environment, file), options);
  if (bytes !== undefined) return bytes;
  const shown = displayText(file, { max: 200 });
  throw new Fault("notFound", `Cannot ${verb} "${shown}": there is no such file`);
}

/** Asks for a list that may exceed one answer, and yields its items as they arrive. */
export async function* askPages(
  link: Pick<KernelLink, "ask">,
  op: string,
  body: Json,
): AsyncGenerator<Json> {
  for (let page = await link.ask(op, body); Array.isArray(page) && page.length > 0;) {
    yield* page;
    page = await link.ask("more", null);
  }
}

/** The ingress of a person's words at this command line; a guest's words are RED. */
export function ingressOf(
  { powers }: Command<Basic | "keyboard">,
  profile: Profile = "operator",
): Ingress {
  return {
    channel: powers.keyboard === undefined ? "pipe" : "terminal",
    principal: powers.environment.env("USER") ?? `uid-${powers.environment.uid}`,
    colour: profile === "operator" ? "BLUE" : "RED",
    label: "internal",
  };
}

/** Prints one JSON document to standard output, and returns success, with which most commands end then. */
export function printJson(command: Command, value: unknown): typeof EXIT.success {
  command.powers.screen.out(`${safeJson(value, 2)}\n`);
  return EXIT.success;
}

/** Prints JSON lines to standard output. */
export function printJsonLines(command: Command, values: readonly unknown[]): void {
  for (const value of values) command.powers.screen.out(`${safeJson(value)}\n`);
}

/** Prints safe lines to standard output, and returns success, with which most commands end then. */
export function printLines(command: Command, lines: readonly string[]): typeof EXIT.success {
  if (lines.length > 0) command.powers.screen.out(`${lines.join("\n")}\n`);
  return EXIT.success;
}

/** The command line of another command on the same state, to show to a person. */
export function commandText(command: Command, words: string): string {
  const state = flag(command.parsed, "state");
  const name = command.powers.environment.command;
  const fleet = flag(command.parsed, "fleet");
  return `${name} ${words}${state === undefined ? "" : ` --state ${state}`}${
    fleet === undefined ? "" : ` --fleet ${fleet}`
  }`;
}

/** Parses a task's id from the arguments. Throws `invalidInput`. */
export function taskOf(command: Command, at = 0): TaskId {
  return idOf(TaskId, command.parsed.args[at] ?? "", "task");
}

/** Parses an id with its schema. Throws `invalidInput`. */
export function idOf<T>(
  schema: { safeParse(value: unknown): { success: true; data: T } | { success: false } },
  text: string,
  what: string,
): T {
  const parsed = schema.safeParse(text);
  if (!parsed.success) throw wrongId(text, what);
  return parsed.data;
}

/** The command that lists the ids of each kind. */
const LISTED: Readonly<Record<string, string>> = {
  task: "task list",
  question: "questions",
  lease: "lease list",
  artifact: "outbox list",
};

function wrongId(text: string, what: string): Error {
  const list = LISTED[what];
  return new Fault(
    "invalidInput",
    `Cannot read ${JSON.stringify(text.slice(0, 80))} as the id of ${
      /^[aeiou]/.test(what) ? "an" : "a"
    } ${what}${list === undefined ? "" : `: "remit ${list}" names them`}`,
  );
}

/** An answer as a list of records; empty for anything else. */
export function rowsOf(answer: Json): readonly Readonly<Record<string, Json>>[] {
  if (!Array.isArray(answer)) return [];
  return answer.map((each) => recordOf(each));
}

/** An answer as a record; empty for anything else. */
export function recordOf(answer: Json | undefined): Readonly<Record<string, Json>> {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return {};
  return Object.fromEntries(Object.entries(answer));
}

/** A table's cell: any value as safe text. */
export function cell(value: Json | undefined, max = 120): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return displayText(text, { max });
}
