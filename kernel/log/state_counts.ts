/** How much of each thing this kernel holds, by how it stands: what a service measures. Ids and content stay here. @module */
import {
  type EndedTasks,
  EntryState,
  ExchangeState,
  type InboxEntry,
  type RetainReport,
  type StateCounts,
  type TaskId,
  type TaskSpan,
  TaskStatus,
  type TaskTally,
} from "../../contracts/mod.ts";

/** Exchanges with peers, as far as they are counted. */
export interface CountedExchanges {
  list(query: {
    readonly state: ExchangeState;
    readonly size: 1;
    readonly since?: number;
  }): Promise<{ readonly total: number }>;
}

/** What is counted. */
export interface CountedParts {
  tally(): Promise<TaskTally>;
  readonly inbox: { list(query: Record<string, never>): readonly InboxEntry[] };
  readonly exchanges: CountedExchanges;
}

function tally<K extends string>(names: readonly K[], found: Iterable<K>): Record<string, number> {
  const counts = new Map<K, number>(names.map((name) => [name, 0]));
  for (const each of found) counts.set(each, (counts.get(each) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** Handlers of the control operations over the whole state. */
export interface StateOps {
  counts(): Promise<Omit<StateCounts, "questions" | "processes">>;
  ended(asked: { readonly after: number | null }): EndedTasks;
  spans(asked: { readonly task: TaskId }): Promise<readonly TaskSpan[]>;
  retain(asked: { readonly before: number; readonly dryRun: boolean }): Promise<RetainReport>;
}

/** Counts what there is. */
export async function countState(
  parts: CountedParts,
): Promise<Omit<StateCounts, "questions" | "processes">> {
  const { statuses, channels } = await parts.tally();
  const exchanges: Record<string, number> = {};
  for (const state of ExchangeState.options) {
    exchanges[state] = (await parts.exchanges.list({ state, size: 1 })).total;
  }
  return {
    tasks: Object.fromEntries(TaskStatus.options.map((each) => [each, statuses.get(each) ?? 0])),
    channels: Object.fromEntries(channels),
    inbox: tally(EntryState.options, parts.inbox.list({}).map(({ state }) => state)),
    exchanges,
  };
}
