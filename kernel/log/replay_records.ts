/** What the private parts of intents and outcomes say of files, and messages of their senders. @module */
import { isObject } from "../../contracts/json.ts";
import {
  type ChatMessage,
  Colour,
  Digest,
  Fault,
  type JsonObject,
  Label,
  mixColour,
  mixLabel,
  type Source,
  type Taint,
  type TaskId,
} from "../../contracts/mod.ts";

/** What is unreadable is as bad as the worst. */
export const COLOUR_OR_RED = Colour.catch("RED");
/** The same of labels. */
export const LABEL_OR_SECRET = Label.catch("secret");

/** A patch that was being applied when a kernel ended: it may be in the folder, or a part of it. */
export interface TornPatch {
  /** Key of the call. */
  readonly key: string;
  readonly patch: Digest;
  /** Files that it changes, `MOUNT/relative`. */
  readonly paths: readonly string[];
}

/** The patch that an intent was about to apply. */
export function patchOf(key: string, secret: JsonObject | undefined): TornPatch | undefined {
  const digests = secret?.["digests"];
  const patch = Digest.safeParse(isObject(digests) ? digests["patch"] : undefined);
  const scopes = secret?.["scope"];
  if (!patch.success || !Array.isArray(scopes)) return undefined;
  const written = "mount:write:";
  const paths = scopes.filter((each) => typeof each === "string" && each.startsWith(written));
  return { key, patch: patch.data, paths: paths.map((path) => String(path).slice(written.length)) };
}

/** Bytes that a committed outcome staged, kept or applied. */
export function writtenBy(record: JsonObject): number {
  const applied = record["applied"];
  const lists = [
    record["staged"],
    record["scratch"],
    isObject(applied) ? applied["changes"] : undefined,
  ];
  let bytes = 0;
  for (const change of lists.flatMap((list) => Array.isArray(list) ? list : [])) {
    if (isObject(change)) bytes += Number(change["bytes"] ?? 0);
  }
  return bytes;
}

/** What of a message is told when something is decided that follows from it: nothing where a person said it. */
export function sourcesOf({ provenance }: ChatMessage): readonly Source[] {
  const { source, colour, label } = provenance;
  return source === undefined ? [] : [{ source, colour, label }];
}

/** What a process knows once it has read a message. */
export function afterReading(
  message: ChatMessage,
  before: Taint,
): { -readonly [K in keyof Taint]: K extends "sources" ? Source[] : Taint[K] } {
  const { colour, label } = message.provenance;
  return {
    colour: mixColour(before.colour, colour),
    label: mixLabel(before.label, label),
    sources: [...before.sources, ...sourcesOf(message)].slice(-100),
  };
}

interface Parser<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false };
}

/** Parses what a log holds of a task. @throws Fault `storeCorrupt` */
export function parsed<T>(schema: Parser<T>, value: unknown, task: TaskId, what: string): T {
  const result = schema.safeParse(value);
  if (!result.success) {
    throw new Fault("storeCorrupt", `Cannot read task ${task}: ${what} does not parse`);
  }
  return result.data;
}
