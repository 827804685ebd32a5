/**
 * Whether an imported or outbound call goes on without a question because its values are the person's own.
 * docs/provenance.md says the rule and what it does not stop.
 * @module
 */
import type { Colour, EffectClass } from "../../contracts/authority/colour.ts";
import type { Digest } from "../../contracts/authority/ids.ts";
import {
  type Declaration,
  MAX_ORIGINS,
  type ValueOrigin,
} from "../../contracts/authority/origin.ts";
import { isList, isObject, type Json, type JsonObject } from "../../contracts/base/json.ts";
import { digestOf } from "../../port/digest.ts";
import { destroysByName, isImported, type ToolDescriptor } from "../../contracts/tool/tool.ts";
import type { Literal } from "../../text/stands_in.ts";
import { isId, type TaskOrigins } from "./origins.ts";

/** The rule of a call that was let through so. */
export const FROM_REQUEST = "built-in: every value stands in your request";

/** Effects of calls that may go on unasked. Of destructive ones values are looked at, too, for the question's text. */
const LOOKED_AT: ReadonlySet<EffectClass> = new Set([
  "mutateLocal",
  "outboundRead",
  "outboundWrite",
]);

/** What is asked about a call. */
export interface OriginsAsked {
  readonly descriptor: ToolDescriptor;
  readonly args: JsonObject;
  /** Names the call, the same before and after a restart. */
  readonly key: Digest;
  readonly effect: EffectClass;
  readonly colour: Colour;
  /** The operator wants nothing let through that a rule does not name. */
  readonly strict: boolean;
}

/** Where the values of a call come from. */
export interface CallOrigins {
  /** Each value, the first 64. */
  readonly values: readonly ValueOrigin[];
  /** Names what the call says: its values but those that say nothing. */
  said(): Digest;
  /**
   * Every value but those of these arguments stands in the person's words, is the schema's default, or is the id of
   * what those words name.
   */
  ownBut(names: readonly string[]): boolean;
  readonly declared: Declaration;
  /**
   * The call goes on unasked: those values are the person's, the tool was chosen before untrusted text, these arguments
   * did not go on before, and neither the effect nor the tool's name destroys. Never under `strict`.
   */
  passesBut(names: readonly string[]): boolean;
}

/** Whether values of a tool are looked at: it is another's, or its text leaves the machine. */
export function hasOrigins(
  { interfaceId }: Pick<ToolDescriptor, "interfaceId">,
  effect: EffectClass,
): boolean {
  if (!LOOKED_AT.has(effect) && effect !== "destructive") return false;
  return effect !== "mutateLocal" || isImported({ interfaceId });
}

function isWord(value: Literal): boolean {
  return typeof value === "string" && /^[\p{L}\p{M}]+$/u.test(value);
}

/** Finds where the values of a call come from. */
export function originsOf(of: TaskOrigins, asked: OriginsAsked): CallOrigins {
  const { descriptor, args, key, effect, colour, strict } = asked;
  const found: (ValueOrigin & { readonly first: string; readonly value: Literal })[] = [];
  let whole = true;
  const look = (value: Json, schema: Schema, place: Place): void => {
    if (isObject(value)) {
      for (const [name, each] of Object.entries(value)) {
        const declared = schema.properties !== undefined && Object.hasOwn(schema.properties, name);
        const at = place.at === "" ? name : `${place.at}.${name}`;
        const first = place.first === "" ? name : place.first;
        // A name that the schema does not have is content, too.
        if (!declared && !of.inRequest(name)) add({ from: "agent" }, { at, first }, name);
        look(each, schemaOf(declared ? schema.properties?.[name] : undefined), { at, first, name });
      }
    } else if (isList(value)) {
      value.forEach((each, n) =>
        look(each, schemaOf(schema.items), { ...place, at: `${place.at}.${n}` })
      );
    } else add(originOf(value, schema, place.name), place, value);
  };
  const add = (
    origin: Omit<ValueOrigin, "at">,
    { at, first }: Pick<Place, "at" | "first">,
    value: Literal,
  ): void => {
    if (found.length >= MAX_ORIGINS) return void (whole = false);
    const place = at.slice(0, 128), twin = found.findIndex((each) => each.at === place);
    // Two values in one place cannot be told apart: neither is the person's.
    const same = typeof value === "string" ? value.normalize().replace(MOMENT, "$1T$2") : value;
    if (twin >= 0) found[twin] = { at: place, from: "agent", first, value: same };
    found.push({ at: place, ...(twin >= 0 ? { from: "agent" } : origin), first, value: same });
  };
  const originOf = (
    value: Literal,
    schema: Schema,
    name: string,
  ): Omit<ValueOrigin, "at"> => {
    // What says nothing carries nothing; that it was left out is not seen here.
    if (value === null || value === "" || value === schema.default) return { from: "default" };
    // Letters in another form than they are compared in are another text to a tool.
    if (typeof value === "string" && value !== value.normalize()) return { from: "agent" };
    // A plain word is no id: any sentence holds some.
    if (of.inRequest(value) && !(isId(name) && isWord(value))) return { from: "request" };
    if (typeof value === "boolean") return { from: "agent" };
    const { interfaceId } = descriptor;
    // INVARIANT: an id is one in an argument that takes an id (test: "… passes nowhere but as an id").
    const says = isId(name) ? of.saysOf(interfaceId, name, value) : undefined;
    const told = says === undefined ? {} : { says };
    const record = isId(name) ? of.recordOf(interfaceId, name, value) : undefined;
    if (record !== undefined) return { from: "record", ...record, ...told };
    const result = of.resultOf(value);
    return result === undefined ? { from: "agent" } : { from: "result", ...result, ...told };
  };
  look(args, schemaOfTool(descriptor), { at: "", first: "", name: "" });

  // What says nothing makes no other call of it, nor does another form of the same letters.
  const said = (): Digest => {
    const told = found.filter(({ from }) => from !== "default").map(({ at, value }) => [at, value]);
    return digestOf(told.sort(([a], [b]) => String(a) < String(b) ? -1 : 1));
  };
  const ownBut = (names: readonly string[]): boolean =>
    whole &&
    found.every(({ from, first }) =>
      from === "request" || from === "default" || from === "record" || names.includes(first)
    );
  const left = of.left(descriptor.name, key);
  // INVARIANT: a model that read another's words chooses no tool (test: "a model that was taken over chooses …").
  const chosen = left === undefined
    ? colour === "BLUE" && found.some(({ from }) => from === "request")
    : left > 0;
  const declared = left === undefined
    ? of.declares() ? "other" : "none"
    : left > 0
    ? "declared"
    : "usedUp";
  return {
    declared,
    values: found.map(({ first: _first, value: _value, ...origin }) => origin),
    said,
    ownBut,
    passesBut: (names) =>
      chosen && !strict && LOOKED_AT.has(effect) && !destroysByName(descriptor) &&
      !of.passed({ tool: descriptor.name, said, key }) &&
      ownBut(names),
  };
}

const schemas = new WeakMap<ToolDescriptor, Schema>();

function schemaOfTool(descriptor: ToolDescriptor): Schema {
  const known = schemas.get(descriptor);
  if (known !== undefined) return known;
  const schema = schemaOf(JSON.parse(descriptor.paramSchema));
  schemas.set(descriptor, schema);
  return schema;
}

/** A moment, in the forms in which it counts as one. */
const MOMENT = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::00(?:\.0+)?)?$/u;

interface Place {
  readonly at: string;
  /** The argument that it belongs to, and its own name. */
  readonly first: string;
  readonly name: string;
}

/** What of a JSON Schema says where a value's kind is told. */
interface Schema {
  readonly properties?: JsonObject;
  readonly items?: Json;
  readonly default?: Json;
}

function schemaOf(schema: Json | undefined): Schema {
  if (schema === undefined || !isObject(schema)) return {};
  const { properties, items } = schema;
  return {
    ...(isObject(properties ?? null) ? { properties: properties as JsonObject } : {}),
    ...(items === undefined ? {} : { items }),
    ...(schema["default"] === undefined ? {} : { default: schema["default"] }),
  };
}
