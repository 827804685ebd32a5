/**
 * Differences between a call and the previous call of its tool, for the person who is asked. Used
 * by broker/gate/ask.ts.
 * @module
 */
import type { EarlierCall } from "../../contracts/authority/origin.ts";
import type { TaskId } from "../../contracts/authority/ids.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { isList, isObject, type Json } from "../../contracts/base/json.ts";
import { parseArguments } from "../arguments.ts";

/** An earlier performed call. */
export interface PastCall {
  readonly task: TaskId;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Canonical JSON from the log, without credentials. */
  readonly argumentsText: string;
}

const MAX_DIFFERENCES = 16;
const MAX_LENGTH = 80;
/** Characters of a common beginning that are shown before the first difference. */
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

/** Values by path, such as `to.0`, as JSON, which distinguishes the text "5" from the number 5. */
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
    // Arguments with placeholders for credentials may no longer parse.
    if (!(error instanceof Fault)) throw error;
    leaves.set("arguments", text);
  }
  return leaves;
}

/** The index from which two long values are shown, shortly before their first difference. */
function partAt(a: string, b: string): number {
  if (Math.max(a.length, b.length) <= MAX_LENGTH) return 0;
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  return same <= MAX_LENGTH / 2 ? 0 : same - LEAD;
}

function cut(text: string, from: number): string {
  const part = `${from > 0 ? "…" : ""}${text.slice(from)}`;
  return (part.length <= MAX_LENGTH ? part : `${part.slice(0, MAX_LENGTH - 1)}…`).toWellFormed();
}
