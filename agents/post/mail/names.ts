/** Directories of petnames as immutable values, and their store. @module */
import { Colour, Label, mixTaints, type Taint } from "../../../contracts/authority/colour.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { toJsonObject } from "../../../contracts/base/json.ts";
import { Directory, NAMES_MOST, PetPath, SPECIAL_NAMES } from "../../../contracts/exchange/mail.ts";
import type { TaskId } from "../../../contracts/authority/mod.ts";
import type { Reference } from "../../../contracts/exchange/mod.ts";
import type { EventLog, Store } from "../../../contracts/task/mod.ts";

/** The thing at a path. */
export type Named = Directory | Reference;

/** An empty directory. */
export const NO_NAMES: Directory = Object.freeze({ kind: "directory", entries: Object.freeze({}) });

/**
 * Parses a path: a list of names, or names with `/` between them.
 * @throws Fault `invalidArguments` for a name with other characters than letters, digits, `.`, `_` and `-`.
 */
export function parsePath(given: unknown): PetPath {
  const parts = typeof given === "string" ? given.split("/") : given;
  const parsed = PetPath.safeParse(parts);
  if (parsed.success) return parsed.data;
  throw new Fault(
    "invalidArguments",
    `Cannot use the name ${
      JSON.stringify(given)?.slice(0, 120)
    }: a path is 1 to ${NAMES_MOST.depth} ` +
      'names of letters, digits, ".", "_" and "-", as "counter" or "tools/counter"',
  );
}

/** The thing at a path; undefined if there is none. */
export function namedAt(directory: Directory, path: PetPath): Named | undefined {
  let at: Named | undefined = directory;
  for (const name of path) {
    if (at?.kind !== "directory" || !Object.hasOwn(at.entries, name)) return undefined;
    at = at.entries[name];
  }
  return at;
}

/**
 * The directory with `named` at `path`, replacing any previous one.
 * @throws Fault `refused` for a special name, `notFound` where no directory is above it, `tooLarge` past the bounds.
 */
export function withNamed(directory: Directory, path: PetPath, named: Named): Directory {
  mayChange(path);
  return bounded(changed(directory, path, named));
}

/** The directory without the name at `path`. @throws Fault `refused` for a special name, `notFound` */
export function withoutNamed(directory: Directory, path: PetPath): Directory {
  mayChange(path);
  if (namedAt(directory, path) === undefined) throw missing(path);
  return changed(directory, path, undefined);
}

/**
 * The directory with the thing at `from` moved to `to`.
 * @throws Fault as `withNamed` and `withoutNamed`; `invalidArguments` when a directory would be moved into itself.
 */
export function withMoved(directory: Directory, from: PetPath, to: PetPath): Directory {
  mayChange(from);
  const named = namedAt(directory, from);
  if (named === undefined) throw missing(from);
  if (from.every((name, n) => to[n] === name)) {
    throw new Fault(
      "invalidArguments",
      `Cannot move "${from.join("/")}" to "${to.join("/")}": it would be within itself`,
    );
  }
  return withNamed(withoutNamed(directory, from), to, named);
}

/** The fault `notFound` for a path. */
export function missing(path: PetPath): Fault {
  return new Fault(
    "notFound",
    `Cannot find the name "${path.join("/")}": list shows what there is`,
  );
}

function mayChange(path: PetPath): void {
  const [first = ""] = path;
  if (!SPECIAL_NAMES.has(first)) return;
  throw new Fault("refused", `Cannot change the name "${first}": it is there for every agent`);
}

function changed(directory: Directory, path: PetPath, named: Named | undefined): Directory {
  const [first = "", ...rest] = path;
  const { [first]: before, ...others } = directory.entries;
  if (rest.length === 0) {
    const entries = named === undefined ? others : { ...others, [first]: named };
    return { kind: "directory", entries };
  }
  if (before?.kind !== "directory" || !Object.hasOwn(directory.entries, first)) {
    throw new Fault(
      "notFound",
      `Cannot use the path "${
        path.join("/")
      }": "${first}" is no directory; make_directory makes one`,
    );
  }
  return {
    kind: "directory",
    entries: { ...others, [first]: changed(before, PetPath.parse(rest), named) },
  };
}

function bounded(directory: Directory): Directory {
  const { names, depth } = measure(directory);
  const chars = JSON.stringify(directory).length;
  for (
    const [what, is, most] of [
      ["names", names, NAMES_MOST.names],
      ["directories within each other", depth, NAMES_MOST.depth],
      ["characters", chars, NAMES_MOST.chars],
    ] as const
  ) {
    if (is <= most) continue;
    throw new Fault("tooLarge", `Cannot give the name: a directory holds ${most} ${what} at most`);
  }
  return directory;
}

function measure(directory: Directory): { readonly names: number; readonly depth: number } {
  let names = 0, depth = 0;
  for (const each of Object.values(directory.entries)) {
    names += 1;
    if (each.kind !== "directory") continue;
    const within = measure(each);
    names += within.names;
    depth = Math.max(depth, within.depth);
  }
  return { names, depth: depth + 1 };
}

const KIND = "names";

/** Colour and label of everyone who gave names: colours only fall and labels only rise. */
export type NamedBy = Taint;

/** One agent's names. */
export interface AgentNames {
  look(): Promise<NamedBy & { readonly directory: Directory }>;
  /** Durable when it resolves. If `change` throws, nothing changes. */
  change(by: NamedBy, change: (now: Directory) => Directory): Promise<void>;
}

/** The names of all agents of a kernel. */
export interface NamesStore {
  /** `task`: the task whose log records the changes. */
  of(agent: string, task: TaskId): AgentNames;
}

/** The names store over a document store. */
export function makeNamesStore(
  { store, log }: { readonly store: Pick<Store, "document">; readonly log: EventLog },
): NamesStore {
  interface Kept {
    readonly directory: Directory;
    readonly colour: Colour;
    readonly label: Label;
    readonly version: number;
  }
  const kept = new Map<string, Promise<Kept>>();
  const busy = new Map<string, Promise<void>>();

  async function load(agent: string): Promise<Kept> {
    const row = await store.document(KIND, agent);
    if (row === undefined) {
      return { directory: NO_NAMES, colour: "BLUE", label: "public", version: 0 };
    }
    const directory = Directory.safeParse(row.body["directory"]);
    const colour = Colour.safeParse(row.body["colour"]), label = Label.safeParse(row.body["label"]);
    if (directory.success && colour.success && label.success) {
      return {
        ...{ directory: directory.data, colour: colour.data, label: label.data },
        version: row.version,
      };
    }
    throw new Fault("storeCorrupt", `Cannot read the names of agent "${agent}": they do not parse`);
  }
  const provide = (agent: string): Promise<Kept> => {
    const before = kept.get(agent);
    if (before !== undefined) return before;
    const loading = load(agent);
    kept.set(agent, loading);
    loading.catch(() => kept.delete(agent));
    return loading;
  };

  return Object.freeze<NamesStore>({
    of: (agent, task) =>
      Object.freeze<AgentNames>({
        look: () => provide(agent),
        async change(by, change): Promise<void> {
          // Serialize changes: the next one starts from this one's result.
          const turn = (busy.get(agent) ?? Promise.resolve()).then(async () => {
            const now = await provide(agent);
            const next: Kept = {
              directory: change(now.directory),
              ...mixTaints(now, by),
              version: now.version + 1,
            };
            const { version: _version, ...body } = next;
            const write = { kind: KIND, id: agent, task, expect: now.version };
            await log.append(task, [], [{ ...write, body: toJsonObject(body) }]);
            kept.set(agent, Promise.resolve(next));
          });
          busy.set(agent, turn.catch(() => undefined));
          await turn;
        },
      }),
  });
}
