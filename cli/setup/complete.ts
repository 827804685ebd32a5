/** Completes a command line from the table of commands and from current tasks, models and so on. @module */
import {
  COMMANDS,
  type CommandSpec,
  COMMON_FLAGS,
  type FlagSpec,
} from "../arguments/command_table.ts";
import { findFlag } from "../arguments/parse_arguments.ts";

/** A candidate for the next word, with an explanation. */
export interface Candidate {
  readonly word: string;
  readonly says: string;
}

/** Looks up current words, when one of their kind is expected. */
export interface Live {
  tasks(): Promise<readonly Candidate[]>;
  questions(): Promise<readonly Candidate[]>;
  models(): Promise<readonly Candidate[]>;
  mounts(): Promise<readonly Candidate[]>;
  keys(): Promise<readonly Candidate[]>;
}

/** Candidates for the next word; `files`: a path is expected, which the shell completes. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  readonly files: boolean;
}

// A shell inserts the word unquoted, so it must not contain special characters.
const PLAIN = /^[\w.:@/+=%-]{1,200}$/;
const MAX_CANDIDATES = 400;

interface Place {
  readonly command: CommandSpec | undefined;
  /** Number of arguments before the current word. */
  readonly before: number;
  /** The words so far, where they may be the first word of a family. */
  readonly family: string;
  /** The flag that expects a value. */
  readonly flag: FlagSpec | undefined;
  /** After `--`, no word is a flag of Remit. */
  readonly ended: boolean;
}

/** The syntactic place of the word after `words`. */
function placeOf(words: readonly string[]): Place {
  const named: string[] = [];
  const every = [...COMMON_FLAGS, ...COMMANDS.flatMap(({ flags }) => flags)];
  let flag: FlagSpec | undefined;
  let ended = false;
  for (const word of words) {
    if (flag !== undefined) flag = undefined;
    else if (word === "--") ended = true;
    else if (!ended && word.startsWith("-") && word !== "-") {
      const found = word.includes("=") ? undefined : findFlag(every, word.replace(/^--?/, ""));
      flag = found?.value === undefined ? undefined : found;
    } else named.push(word);
  }
  const find = (name: string): CommandSpec | undefined =>
    COMMANDS.find((each) => each.name === name);
  const pair = named.length > 1 ? find(named.slice(0, 2).join(" ")) : undefined;
  const single = named.length === 0 ? undefined : find(named[0] ?? "");
  const command = pair ?? single ?? (named.length === 0 ? find("") : undefined);
  const used = pair !== undefined ? 2 : single !== undefined ? 1 : 0;
  return { command, before: named.length - used, family: named.join(" "), flag, ended };
}

/** First words of all commands, or the second words of `family`. */
function nextWords(family: string): Candidate[] {
  const words = new Map<string, string>();
  for (const { name, help } of COMMANDS) {
    const [first = "", second] = name.split(" ");
    if (family === "" && first !== "" && !words.has(first)) {
      words.set(first, second === undefined ? help : `${first} …`);
    }
    if (family !== "" && first === family && second !== undefined) words.set(second, help);
  }
  return [...words].map(([word, says]) => ({ word, says }));
}

/** Candidates for a hint such as `TASK`, `once|turn|session` or `FILE`. */
async function ofHint(hint: string, live: Live): Promise<Completion> {
  const found = (candidates: readonly Candidate[]): Completion => ({ candidates, files: false });
  if (/\bTASK\b/.test(hint)) {
    return found([...await live.tasks(), { word: "last", says: "the newest task" }]);
  }
  if (/^(?:REF|MODEL)$/.test(hint)) return found(await live.models());
  if (hint === "MOUNT") return found(await live.mounts());
  if (hint === "KEY") return found(await live.keys());
  if (/FILE|DIR|FOLDER|PATH/.test(hint)) return { candidates: [], files: true };
  if (!/^[a-z][a-z-]*(?:\|[a-z][a-z-]*)+$/.test(hint)) return found([]);
  return found(hint.split("|").map((word) => ({ word, says: "" })));
}

/** Completes `words`, the words after the program's name; the last one is begun, perhaps empty. */
export async function complete(words: readonly string[], live: Live): Promise<Completion> {
  const current = words.at(-1) ?? "";
  const place = placeOf(words.slice(0, -1));
  const fits = ({ candidates, files }: Completion, lead = ""): Completion => ({
    candidates: candidates.map(({ word, says }) => ({ word: lead + word, says }))
      .filter(({ word }) => word.startsWith(current) && PLAIN.test(word)).slice(0, MAX_CANDIDATES),
    files,
  });
  if (place.flag !== undefined) return fits(await ofHint(place.flag.value ?? "", live));
  const flags = [...place.command?.flags ?? [], ...COMMON_FLAGS];
  if (!place.ended && current.startsWith("-")) {
    const [name = ""] = current.split("=", 1);
    const flag = current.includes("=") ? findFlag(flags, name.replace(/^--?/, "")) : undefined;
    if (flag !== undefined) return fits(await ofHint(flag.value ?? "", live), `${name}=`);
    const all = flags.map((each) => ({ word: `--${each.name}`, says: each.help }));
    return fits({ candidates: all, files: false });
  }
  if (place.command === undefined || place.command.name === "") {
    return fits({ candidates: nextWords(place.family), files: false });
  }
  const also = place.before === 0 ? nextWords(place.command.name) : [];
  const hints = place.command.args.split(" ").map((each) => each.replace(/^\[|\]$/g, ""));
  const hint = hints[place.before] ?? "";
  const { name } = place.command;
  const of = name === "answer" && hint === "ID"
    ? { candidates: await live.questions(), files: false }
    : name.startsWith("model ") && hint === "NAME"
    ? { candidates: await live.models(), files: false }
    : await ofHint(hint, live);
  return fits({ candidates: [...also, ...of.candidates], files: of.files });
}
