/** What a task proposed and what became of it: the fold of its committed outcomes. @module */
import {
  type JsonObject,
  MailRecord,
  type Proposed,
  type Settlement,
} from "../../contracts/mod.ts";

/** A settlement before it has its place. */
export type Settled = Omit<Settlement, "seq">;

/** The proposals of one task. */
export interface Proposals {
  /** Number of the next one. */
  next(): number;
  /** Proposed and not settled, oldest first. */
  pending(): readonly Proposed[];
  /** Settled ones after the first `after`, in the order in which they were settled. */
  settled(after: number): readonly Settlement[];
  get(n: number): Proposed | undefined;
  /** Folds one outcome's record; keys of other parts are passed over. A proposal is settled once. */
  fold(record: JsonObject): void;
}

/** Makes the fold; `dismissed` hears of messages that were put aside. */
export function makeProposals(
  dismissed: (ids: NonNullable<MailRecord["dismissed"]>) => void,
): Proposals {
  const proposed = new Map<number, Proposed>();
  const settled: Settlement[] = [];
  let given = 0;

  return Object.freeze<Proposals>({
    next: () => given += 1,
    pending: () =>
      [...proposed.values()].filter(({ n }) => !settled.some(({ proposal }) => proposal === n)),
    settled: (after) => settled.slice(after),
    get: (n) => proposed.get(n),
    fold(record): void {
      const { data } = MailRecord.safeParse(record["mail"]);
      if (data === undefined) return;
      if (data.proposed !== undefined) {
        proposed.set(data.proposed.n, data.proposed);
        given = Math.max(given, data.proposed.n);
      }
      for (const each of data.settled ?? []) {
        if (settled.some(({ proposal }) => proposal === each.proposal)) continue;
        settled.push({ ...each, seq: settled.length + 1 });
      }
      dismissed(data.dismissed ?? []);
    },
  });
}
