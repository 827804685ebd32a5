/** Decides which turn of a scenario is played. @module */
import type { Nth, Scenario, ScriptedTurn, TextMatch, When } from "./schema.ts";
import type { SeenResult, View } from "./view.ts";

/** A turn and its place in the file, from 0. */
export interface ChosenTurn {
  readonly index: number;
  readonly turn: ScriptedTurn;
}

/** The first turn that fits, or undefined. */
export function chooseTurn(scenario: Scenario, view: View): ChosenTurn | undefined {
  // Turns without a condition are counted among themselves.
  let place = 0;
  for (const [index, turn] of scenario.turns.entries()) {
    if (turn.when === undefined) place += 1;
    if (fits(turn, place, view)) return { index, turn };
  }
  return undefined;
}

function fits(turn: ScriptedTurn, place: number, view: View): boolean {
  if (turn.when !== undefined) return holds(turn.when, view);
  return turn.loop === true ? view.inference >= place : view.inference === place;
}

function holds(when: When, view: View): boolean {
  return (when.user === undefined || matches(when.user, view.user)) &&
    (when.system === undefined || matches(when.system, view.system)) &&
    (when.result === undefined || view.fresh.some((result) => resultFits(when.result, result))) &&
    within(when.message, view.message) &&
    within(when.step, view.step) &&
    within(when.inference, view.inference) &&
    (when.offered ?? []).every((tool) => view.offered.has(tool)) &&
    !(when.notOffered ?? []).some((tool) => view.offered.has(tool));
}

function resultFits(wanted: When["result"], result: SeenResult): boolean {
  if (wanted === undefined) return true;
  return (wanted.tool === undefined || wanted.tool === result.tool) &&
    (wanted.outcome === undefined || [wanted.outcome].flat().includes(result.outcome)) &&
    (wanted.text === undefined || matches(wanted.text, result.text));
}

function matches(wanted: TextMatch, text: string): boolean {
  if (typeof wanted === "string") return text.includes(wanted);
  return [wanted.contains ?? []].flat().every((part) => text.includes(part)) &&
    (wanted.equals === undefined || text === wanted.equals) &&
    (wanted.startsWith === undefined || text.startsWith(wanted.startsWith)) &&
    ![wanted.lacks ?? []].flat().some((part) => text.includes(part));
}

function within(wanted: Nth | undefined, n: number): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted === "number") return n === wanted;
  return n >= (wanted.from ?? 1) && n <= (wanted.to ?? Infinity);
}
