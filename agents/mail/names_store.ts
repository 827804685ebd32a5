/** Each agent's own directory of petnames, durable: one document for an agent, changed whole or not at all. @module */
import {
  Colour,
  Directory,
  type EventLog,
  Fault,
  Label,
  mixColour,
  mixLabel,
  type Store,
  type TaskId,
  toJsonObject,
} from "../../contracts/mod.ts";
import { NO_NAMES } from "./names.ts";

const KIND = "names";

/** What whoever gave the names had read: it falls, and rises, and stays so. */
export interface NamedBy {
  readonly colour: Colour;
  readonly label: Label;
}

/** One agent's names. */
export interface AgentNames {
  look(): Promise<NamedBy & { readonly directory: Directory }>;
  /** Durable when it resolves. What `change` throws leaves everything as it was. */
  change(by: NamedBy, change: (now: Directory) => Directory): Promise<void>;
}

/** The names of all agents of a kernel. */
export interface NamesStore {
  /** `task` is whose log the change stands in. */
  of(agent: string, task: TaskId): AgentNames;
}

/** Makes the store. */
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
          // One after another: the next change begins with what this one made.
          const turn = (busy.get(agent) ?? Promise.resolve()).then(async () => {
            const now = await provide(agent);
            const next: Kept = {
              directory: change(now.directory),
              colour: mixColour(now.colour, by.colour),
              label: mixLabel(now.label, by.label),
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
