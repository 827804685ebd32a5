/**
 * A server's JSON Schema made safe: bounded, references written out, of the keywords alone that the gate
 * checks without running anybody's regular expression. What was left out is told.
 * @module
 */
import { isList } from "../../../contracts/json.ts";
import { Fault } from "../../../contracts/fault.ts";
import type { Json, JsonObject } from "../../../contracts/mod.ts";
import { parseJson } from "../../../port/mod.ts";
import { asOneObject } from "./_schema_top.ts";
import { makeSchemaNotes, noteLines, type SchemaNotes } from "./_schema_notes.ts";
import { type WalkLimits, walkSchema } from "./_schema_walk.ts";

/** A schema that the gate takes. */
export interface SafeSchema {
  /** JSON text of at most 32,768 bytes. */
  readonly schema: string;
  /** What was left out of it, a sentence each: untrusted names inside. */
  readonly notes: readonly string[];
  /** What no ordinary schema holds, a sentence each. */
  readonly tricks: readonly string[];
}

/** Tried in turn, until the schema is small enough. */
const LIMITS: readonly WalkLimits[] = [
  { depth: 11, schemas: 600, repeats: 1 },
  { depth: 8, schemas: 600, repeats: 0 },
  { depth: 5, schemas: 600, repeats: 0 },
  { depth: 3, schemas: 400, repeats: 0 },
  { depth: 2, schemas: 300, repeats: 0 },
];
/** What the gate can check, less a little. */
const TEXT = { frameBytes: 32_768, depth: 24, nodes: 1_900 };

/** The schema of a tool's arguments: an object. @throws {Fault} `refused` with the reason */
export function safeSchema(schema: JsonObject): SafeSchema {
  const type = schema["type"];
  if (type !== undefined && type !== "object" && !(isList(type) && type.includes("object"))) {
    throw new Fault("refused", "its arguments are not an object");
  }
  return fitting(schema, asOneObject);
}

/** The schema of a tool's structured result. @throws {Fault} `refused` with the reason */
export function safeResultSchema(schema: JsonObject): SafeSchema {
  return fitting(schema, (walked) => walked);
}

function fitting(
  schema: JsonObject,
  finish: (walked: JsonObject, notes: SchemaNotes) => JsonObject,
): SafeSchema {
  for (const [tried, limits] of LIMITS.entries()) {
    const notes = makeSchemaNotes();
    if (tried > 0) notes.trick("it is too large to be checked whole", "all of it");
    try {
      const text = JSON.stringify(finish(walkSchema(schema, limits, notes), notes) satisfies Json);
      parseJson(text, TEXT);
      return { schema: text, notes: noteLines(notes.loosened), tricks: noteLines(notes.tricks) };
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "tooLarge") throw error;
    }
  }
  throw new Fault("refused", "its schema is too large");
}
