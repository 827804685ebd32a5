/**
 * Parses the form that an imported server asks a person to fill in. The schema is the server's: untrusted, flat, bounded;
 * none of it is executed, its patterns in particular.
 * @module
 */
import * as z from "zod";
import type { Question } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";

/** A choice: the value to send, and the server's label for it. */
export interface ElicitOption {
  readonly value: string;
  readonly label: string;
}

/** The type of a field's value. Remit cannot ask for `unknown`. */
export type ElicitKind =
  | "text"
  | "number"
  | "integer"
  | "boolean"
  | "choice"
  | "choices"
  | "unknown";

/** A value that a person gave. */
export type ElicitValue = string | number | boolean | readonly string[];

/** One field; all its texts come from the server. */
export interface ElicitField {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly required: boolean;
  readonly kind: ElicitKind;
  /** For `choice` and `choices`; at most 100. */
  readonly options: readonly ElicitOption[];
  /** Bounds of a text's characters, a number's value, the number of choices. */
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly format?: "email" | "uri" | "date" | "date-time" | undefined;
  /** The server's suggestion; only used when the person takes it explicitly. */
  readonly suggested?: ElicitValue | undefined;
}

/** The whole form. */
export interface ElicitForm {
  /** The server's name in remit.lock, so Remit's own word. */
  readonly server: string;
  readonly message: string;
  /** The address to visit, in URL mode. */
  readonly url?: string | undefined;
  readonly fields: readonly ElicitField[];
}

const MAX_FIELDS = 64;
const MAX_OPTIONS = 100;

const Text = z.string().max(8_192);
const Asked = z.object({
  server: z.string().min(1).max(64),
  message: z.string().max(16_384),
  schema: z.union([z.string().max(65_536), z.record(z.string(), z.unknown())]).optional(),
  url: z.string().max(8_192).optional(),
});
const Option = z.object({ const: z.string().max(1_024), title: Text.optional() });
const Choices = z.object({
  enum: z.array(z.string().max(1_024)).max(MAX_OPTIONS).optional(),
  enumNames: z.array(Text).max(MAX_OPTIONS).optional(),
  oneOf: z.array(Option).max(MAX_OPTIONS).optional(),
  anyOf: z.array(Option).max(MAX_OPTIONS).optional(),
});
const Property = Choices.extend({
  type: z.string().optional(),
  title: Text.optional(),
  description: Text.optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  format: z.string().optional(),
  items: Choices.optional(),
  default: z.unknown().optional(),
});
const Flat = z.object({
  properties: z.record(z.string().max(256), z.unknown()),
  required: z.array(z.string().max(256)).max(1_000).optional(),
});
const Suggested = z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).max(100)]);

function optionsOf(choices: z.infer<typeof Choices>): readonly ElicitOption[] {
  const titled = choices.oneOf ?? choices.anyOf;
  if (titled !== undefined) {
    return titled.map((each) => ({ value: each.const, label: each.title ?? each.const }));
  }
  return (choices.enum ?? []).map((value, n) => ({
    value,
    label: choices.enumNames?.[n] ?? value,
  }));
}

function kindOf(property: z.infer<typeof Property>): ElicitKind {
  const { type } = property;
  if (type === "array") return optionsOf(property.items ?? {}).length > 0 ? "choices" : "unknown";
  if (type === "string" || type === undefined) {
    if (optionsOf(property).length > 0) return "choice";
    return type === undefined ? "unknown" : "text";
  }
  return type === "number" || type === "integer" || type === "boolean" ? type : "unknown";
}

const FORMATS = ["email", "uri", "date", "date-time"] as const;

function boundsOf(
  kind: ElicitKind,
  property: z.infer<typeof Property>,
): { readonly min: number | undefined; readonly max: number | undefined } {
  if (kind === "text") return { min: property.minLength, max: property.maxLength };
  if (kind === "choices") return { min: property.minItems, max: property.maxItems };
  return { min: property.minimum, max: property.maximum };
}

function fieldOf(name: string, raw: unknown, required: boolean): ElicitField {
  const parsed = Property.safeParse(raw);
  const none = { name, title: "", description: "", required, options: [] };
  if (!parsed.success) return { ...none, kind: "unknown" };
  const property = parsed.data;
  const kind = kindOf(property);
  const suggested = Suggested.safeParse(property.default);
  return {
    name,
    title: property.title ?? "",
    description: property.description ?? "",
    required,
    kind,
    options: kind === "choices" ? optionsOf(property.items ?? {}) : optionsOf(property),
    ...boundsOf(kind, property),
    format: FORMATS.find((each) => each === property.format),
    suggested: suggested.success ? suggested.data : undefined,
  };
}

function fieldsOf(schema: unknown): readonly ElicitField[] {
  const flat = Flat.safeParse(schema);
  if (!flat.success) throw wrongForm("its form is no flat object");
  const names = Object.entries(flat.data.properties);
  if (names.length > MAX_FIELDS) throw wrongForm(`its form has more than ${MAX_FIELDS} fields`);
  const required = new Set(flat.data.required ?? []);
  return names.map(([name, raw]) => fieldOf(name, raw, required.has(name)));
}

function wrongForm(why: string, cause?: unknown): Fault {
  return new Fault("invalidInput", `Cannot read what the server asks: ${why}; deny it`, { cause });
}

/**
 * Parses the form of a question of kind `elicit`.
 *
 * @throws Fault `invalidInput` for a form that cannot be read
 */
export function parseElicit(question: Pick<Question, "argumentsText">): ElicitForm {
  let given: z.infer<typeof Asked>;
  let schema: unknown;
  try {
    given = Asked.parse(JSON.parse(question.argumentsText));
    schema = typeof given.schema === "string" ? JSON.parse(given.schema) : given.schema;
  } catch (cause) {
    throw wrongForm("it is not written as a form", cause);
  }
  const { server, message, url } = given;
  const fields = schema === undefined || url !== undefined ? [] : fieldsOf(schema);
  return { server, message, url, fields };
}
