/** The wikis that tasks were handed, and their tools: made by memory-wiki/, asked of a wiki's process. @module */
import type {
  Colour,
  Gate,
  GrantedCall,
  Hit,
  Json,
  Label,
  Source,
  TaskId,
  TaskMemory,
  ToolBinding,
  ToolDescriptor,
} from "../../contracts/mod.ts";
import { memoryAgent, memoryOf, type MemoryRequest } from "./task_memory.ts";
import type { HeldWiki, WikiAskOptions, WikiServices } from "./wiki_services.ts";

/** A task's memory, as memory-wiki/ binds it. */
export interface MemoryTools {
  readonly bindings: readonly ToolBinding[];
  /** Looks at what a proposed page would change, before it is decided. Never rejects. */
  prepare(
    call: { readonly name: string; readonly arguments: string },
    task: TaskId,
    signal: AbortSignal,
  ): Promise<void>;
  query(
    asked: { readonly text: string; readonly k: number },
    signal: AbortSignal,
  ): Promise<{
    readonly colour: Colour;
    readonly label: Label;
    readonly hits: readonly Hit[];
    readonly fit: string;
  }>;
}

/** What memory-wiki/ makes: handed over by main.ts. */
export interface BindMemory {
  readonly descriptors: readonly ToolDescriptor[];
  bind(parts: {
    readonly memory: TaskMemory;
    readonly agent: string;
    ask(op: string, body: Json, options: WikiAskOptions): Promise<Json>;
    redeem(call: GrantedCall): void;
    now(): number;
  }): MemoryTools;
}

/** A task's wiki. */
export interface TaskWiki extends Pick<MemoryTools, "bindings" | "prepare"> {
  /** Passages for a plugin, with the untrusted files that they are of. */
  query(...asked: Parameters<MemoryTools["query"]>): Promise<
    Awaited<ReturnType<MemoryTools["query"]>> & { readonly sources: readonly Source[] }
  >;
}

/** The wikis of all tasks. */
export interface WikiTools {
  readonly descriptors: readonly ToolDescriptor[];
  /** The task's wiki; undefined when it was handed none. Its process starts with the first call. */
  of(task: TaskId, request: MemoryRequest): TaskWiki | undefined;
  /** The task has ended. */
  close(task: TaskId): void;
}

/** What {@link makeWikiTools} is handed. */
export interface WikiToolsParts {
  readonly wikis: Pick<WikiServices, "hold">;
  readonly memory: BindMemory;
  redeem(call: GrantedCall): void;
  now(): number;
}

/** Makes the wikis of a kernel's tasks. */
export function makeWikiTools({ wikis, memory: binder, redeem, now }: WikiToolsParts): WikiTools {
  const held = new Map<TaskId, HeldWiki>();

  const holding = (task: TaskId, memory: TaskMemory): HeldWiki => {
    const { folder, stateFolder, access, user } = memory;
    const wiki = held.get(task) ??
      wikis.hold({ folder, stateFolder, readOnly: access === "read" && user !== "write" });
    held.set(task, wiki);
    return wiki;
  };

  return Object.freeze<WikiTools>({
    descriptors: binder.descriptors,
    of(task, request): TaskWiki | undefined {
      const memory = memoryOf(request);
      if (memory === undefined) return undefined;
      const { bindings, prepare, query } = binder.bind({
        ...{ memory, redeem, now },
        agent: memoryAgent(request),
        ask: async (op, body, options) => await holding(task, memory).ask(op, body, options),
      });
      return Object.freeze<TaskWiki>({
        bindings,
        prepare,
        async query(...asked): ReturnType<TaskWiki["query"]> {
          const found = await query(...asked);
          const sources = found.hits.filter(({ colour }) => colour !== "BLUE").map(
            ({ file, colour, label }) => ({ source: `wiki ${file}`.slice(0, 512), colour, label }),
          );
          return { ...found, sources };
        },
      });
    },
    close(task): void {
      held.get(task)?.release();
      held.delete(task);
    },
  });
}

/** The same gate, which looks at a proposed page before it decides: the question then says what it changes. */
export function preparing(
  gate: Gate,
  { memory }: { readonly memory?: Pick<TaskWiki, "prepare"> },
  { task }: { readonly task: TaskId },
): Gate {
  if (memory === undefined) return gate;
  return Object.freeze<Gate>({
    advertise: gate.advertise,
    decide: gate.decide,
    withhold: gate.withhold,
    async call(...asked): ReturnType<Gate["call"]> {
      const [, call, , signal] = asked;
      await memory.prepare(call, task, signal);
      return await gate.call(...asked);
    },
  });
}
