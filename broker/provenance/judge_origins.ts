/**
 * Whether an imported or outbound call is allowed without a question because its values are the
 * person's own. docs/provenance.md says the rule and its limits.
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

/** The rule named for calls allowed by this module. */
export const FROM_REQUEST = "built-in: every value stands in your request";

/** Effects of calls that may be allowed unasked. Origins of destructive calls are only shown with the question. */
const MAY_PASS: ReadonlySet<EffectClass> = new Set([
  "mutateLocal",
  "outboundRead",
  "outboundWrite",
]);

/** A call whose origins are asked for. */
export interface OriginsAsked {
  readonly descriptor: ToolDescriptor;
  readonly args: JsonObject;
  /** Idempotency key, stable over restarts. */
  readonly key: Digest;
  readonly effect: EffectClass;
  readonly colour: Colour;
  /** Whether the operator allows no call without a rule of their own. */
  readonly strict: boolean;
}

/** The origins of a call's values. */
export interface CallOrigins {
  /** The first 64 values. */
  readonly values: readonly ValueOrigin[];
  /** Digest of the call's values, without defaults. */
  said(): Digest;
  /**
   * Whether every value except those of these arguments is in the person's words, is the schema's
   * default, or is the id of a record that those words name.
   */
  ownBut(names: readonly string[]): boolean;
  readonly declared: Declaration;
  /**
   * Whether the call may be allowed unasked: those values are the person's, the tool was chosen
   * before untrusted text was read, these arguments were not performed before, and neither effect
   * nor name of the tool is destructive. Never under `strict`.
   */
  passesBut(names: readonly string[]): boolean;
}

/** Whether a tool's calls have origins: the tool is imported, or its text leaves the machine. */
export function hasOrigins(
  { interfaceId }: Pick<ToolDescriptor, "interfaceId">,
  effect: EffectClass,
): boolean {
  if (!MAY_PASS.has(effect) && effect !== "destructive") return false;
  return effect !== "mutateLocal" || isImported({ interfaceId });
}

function isWord(value: Literal): boolean {
  return typeof value === "string" && /^[\p{L}\p{M}]+$/u.test(value);
}

/** Determines the origins of a call's values. */
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
        // A property name outside the schema is content, too.
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
    // Two values at one path cannot be distinguished: neither counts as the person's.
    const same = typeof value === "string" ? value.normalize().replace(MOMENT, "$1T$2") : value;
    if (twin >= 0) found[twin] = { at: place, from: "agent", first, value: same };
    found.push({ at: place, ...(twin >= 0 ? { from: "agent" } : origin), first, value: same });
  };
  const originOf = (
    value: Literal,
    schema: Schema,
    name: string,
  ): Omit<ValueOrigin, "at"> => {
    // Empty and default values carry no content. An omitted value is not seen here.
    if (value === null || value === "" || value === schema.default) return { from: "default" };
    // Text in another Unicode form is a different text to a tool.
    if (typeof value === "string" && value !== value.normalize()) return { from: "agent" };
    // A plain word does not count as an id: any sentence contains some.
    if (of.inRequest(value) && !(isId(name) && isWord(value))) return { from: "request" };
    if (typeof value === "boolean") return { from: "agent" };
    const { interfaceId } = descriptor;
    // INVARIANT: a record's id counts only in an argument that takes an id (test: "… passes nowhere but as an id").
    const says = isId(name) ? of.saysOf(interfaceId, name, value) : undefined;
    const told = says === undefined ? {} : { says };
    const record = isId(name) ? of.recordOf(interfaceId, name, value) : undefined;
    if (record !== undefined) return { from: "record", ...record, ...told };
    const result = of.resultOf(value);
    return result === undefined ? { from: "agent" } : { from: "result", ...result, ...told };
  };
  look(args, schemaOfTool(descriptor), { at: "", first: "", name: "" });

  // Defaults and Unicode forms do not make a different call.
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
  // INVARIANT: a model that has read untrusted text chooses no tool (test: "a model that was taken over chooses …").
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
      chosen && !strict && MAY_PASS.has(effect) && !destroysByName(descriptor) &&
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

/** A date and time in its equivalent forms. */
const MOMENT = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::00(?:\.0+)?)?$/u;

interface Place {
  readonly at: string;
  /** The top-level argument, and the value's own field name. */
  readonly first: string;
  readonly name: string;
}

/** The relevant part of a JSON Schema. */
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
