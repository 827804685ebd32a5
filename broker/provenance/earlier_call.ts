/** How a call differs from the last one of its tool: what a person looks at first. @module */
import type { EarlierCall } from "../../contracts/authority/origin.ts";
import type { TaskId } from "../../contracts/authority/ids.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { isList, isObject, type Json } from "../../contracts/base/json.ts";
import { parseArguments } from "../arguments.ts";

/** A call that went on before. */
export interface PastCall {
  readonly task: TaskId;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Canonical, as the log has them: without credentials. */
  readonly argumentsText: string;
}

const MAX_DIFFERENCES = 16;
const LONGEST = 80;
/** Characters of what two long values have in common that are shown before they part. */
const LEAD = 12;

/** Compares the arguments of a call with those of an earlier one, value by value. */
export function earlierCall(argumentsText: string, past: PastCall): EarlierCall {
  const was = leavesOf(past.argumentsText), now = leavesOf(argumentsText);
  const differs = [...new Set([...now.keys(), ...was.keys()])].flatMap((at) => {
    const [old, next] = [was.get(at), now.get(at)];
    if (old === next) return [];
    const from = partAt(old ?? "", next ?? "");
    return [{
      at: at.slice(0, 128).toWellFormed(),
      ...(old === undefined ? {} : { was: cut(old, from) }),
      ...(next === undefined ? {} : { now: cut(next, from) }),
    }];
  });
  const more = Math.max(0, differs.length - MAX_DIFFERENCES);
  return { task: past.task, at: past.at, differs: differs.slice(0, MAX_DIFFERENCES), more };
}

/** Values by their place, `to.0`, each as JSON: the text "5" is not the number 5. */
function leavesOf(text: string): ReadonlyMap<string, string> {
  const leaves = new Map<string, string>();
  const look = (value: Json, at: string): void => {
    if (isObject(value) || isList(value)) {
      const entries = Object.entries(value);
      for (const [name, each] of entries) look(each, at === "" ? name : `${at}.${name}`);
      if (entries.length > 0) return;
    }
    leaves.set(at, JSON.stringify(value));
  };
  try {
    look(parseArguments(text).args, "");
  } catch (error) {
    // Arguments in which credentials are withheld are no longer the text that was parsed.
    if (!(error instanceof Fault)) throw error;
    leaves.set("arguments", text);
  }
  return leaves;
}

/** Where two long values are shown from: a little before they part. */
function partAt(a: string, b: string): number {
  if (Math.max(a.length, b.length) <= LONGEST) return 0;
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  return same <= LONGEST / 2 ? 0 : same - LEAD;
}

function cut(text: string, from: number): string {
  const part = `${from > 0 ? "…" : ""}${text.slice(from)}`;
  return (part.length <= LONGEST ? part : `${part.slice(0, LONGEST - 1)}…`).toWellFormed();
}
