/** Results of roles and models in swarms, and the choice of a model by them. @module */
import type { Attempt, SwarmState } from "./journal.ts";

/** Results of one model in one role. */
export interface TrackRow {
  readonly role: string;
  readonly model: string;
  readonly work: Attempt["work"];
  tried: number;
  /** Merged changes; complete reviews. */
  finished: number;
  /** Changes rejected by checks, reviewers or a conflict. */
  rejected: number;
  /** Attempts without a change or review: failed, late, empty or malformed. */
  failed: number;
  /** US dollars. */
  money: number;
}

const keyOf = (role: string, model: string): string => `${role}\n${model}`;

/** Sums the ended attempts of these swarms. */
export function trackRecord(states: readonly SwarmState[]): readonly TrackRow[] {
  const rows = new Map<string, TrackRow>();
  for (const state of states) {
    const stands = new Set(
      state.merges.flatMap(({ work }) => work === undefined ? [] : [work.attempt.n]),
    );
    for (const { role, model, work, n, issue, ended } of state.attempts) {
      if (ended === undefined) continue;
      const { outcome, money } = ended;
      if (outcome.kind === "nothing" && outcome.reason === "cancelled") continue;
      // Skip a change in progress.
      if (state.issues.get(issue)?.work?.attempt.n === n && !stands.has(n)) continue;
      const key = keyOf(role, model);
      const row = rows.get(key) ??
        { role, model, work, tried: 0, finished: 0, rejected: 0, failed: 0, money: 0 };
      rows.set(key, row);
      row.tried += 1;
      row.money += money;
      if (outcome.kind === "nothing") row.failed += 1;
      else if (work !== "author" || stands.has(n)) row.finished += 1;
      else row.rejected += 1;
    }
  }
  return [...rows.values()].sort((a, b) =>
    a.role === b.role ? b.finished - a.finished : a.role < b.role ? -1 : 1
  );
}

/**
 * The model with the best record among these, the first of equals. An untried model counts half a
 * success; models that already tried this very issue come last.
 */
export function chooseByRecord(
  models: readonly string[],
  role: string,
  rows: readonly TrackRow[],
  tried: readonly string[] = [],
): string {
  const score = (model: string): number => {
    const row = rows.find((each) => each.role === role && each.model === model);
    const rate = ((row?.finished ?? 0) + 0.5) / ((row?.tried ?? 0) + 1);
    return rate - tried.filter((each) => each === model).length;
  };
  return models.toSorted((a, b) => score(b) - score(a))[0] ?? "";
}

const WIDTH = 24;

/** The record as a plot of text: a line for each role and model, its finished share as a bar. */
export function plotLines(
  rows: readonly TrackRow[],
  shown: (text: string) => string,
): readonly string[] {
  if (rows.length === 0) return ["no swarm has ended a task yet"];
  const names = rows.map(({ role, model }) =>
    shown(`${role}  ${model === "" ? "(the run's own)" : model}`)
  );
  const width = Math.max(...names.map((name) => name.length));
  return rows.map(({ tried, finished, rejected, failed, money }, at) => {
    const full = Math.round(WIDTH * finished / Math.max(1, tried));
    const bar = "█".repeat(full) + "·".repeat(WIDTH - full);
    return `${
      (names[at] ?? "").padEnd(width)
    }  ${bar}  ${finished} of ${tried} finished, ${rejected} rejected, ` +
      `${failed} failed, ${money.toFixed(4)} USD`;
  });
}
