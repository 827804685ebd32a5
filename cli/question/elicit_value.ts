/** Parses what a person types into a form's field, and checks it against the field. @module */
import * as z from "zod";
import type { ElicitField, ElicitForm, ElicitValue } from "./elicit_form.ts";
import { namesSecret } from "../../text/looks_secret.ts";

/** A value, or the reason for its rejection, in words that follow the field's name. */
export type Held = { readonly value: ElicitValue } | { readonly wrong: string };

/** Most characters of a filled form as JSON: what a signed answer can carry. */
export const FORM_CHARACTERS = 2_000;

const YES = new Set(["y", "yes", "true"]);
const NO = new Set(["n", "no", "false"]);
const FORMAT: Readonly<Record<NonNullable<ElicitField["format"]>, z.ZodType>> = {
  email: z.email(),
  uri: z.url(),
  date: z.iso.date(),
  "date-time": z.iso.datetime({ offset: true }),
};

function bounds({ min, max }: ElicitField, size: number, unit: string): string | undefined {
  if (min !== undefined && size < min) return `it takes at least ${min}${unit}`;
  if (max !== undefined && size > max) return `it takes at most ${max}${unit}`;
  return undefined;
}

function wrongIn(field: ElicitField, value: ElicitValue): string | undefined {
  switch (field.kind) {
    case "text":
      if (typeof value !== "string") return "it takes a text";
      if (field.format !== undefined && !FORMAT[field.format].safeParse(value).success) {
        return `it takes a ${field.format}`;
      }
      return bounds(field, [...value].length, " characters");
    case "number":
    case "integer":
      if (typeof value !== "number" || !Number.isFinite(value)) return "it takes a number";
      if (field.kind === "integer" && !Number.isSafeInteger(value)) {
        return "it takes a whole number";
      }
      return bounds(field, value, "");
    case "boolean":
      return typeof value === "boolean" ? undefined : "it takes yes or no";
    case "choice":
      return field.options.some((each) => each.value === value)
        ? undefined
        : "it takes one of the choices";
    case "choices": {
      if (!Array.isArray(value) || new Set(value).size !== value.length) {
        return "it takes some of the choices, each once";
      }
      const known = value.every((each) => field.options.some((option) => option.value === each));
      return known ? bounds(field, value.length, " of them") : "it takes some of the choices";
    }
    case "unknown":
      return "Remit cannot ask for a value of this form";
  }
}

function indexed(field: ElicitField, text: string): string | undefined {
  const at = /^[1-9][0-9]{0,2}$/.test(text) ? Number(text) - 1 : -1;
  return field.options[at]?.value;
}

function valueOf(field: ElicitField, text: string): ElicitValue | undefined {
  const word = text.trim().toLowerCase();
  switch (field.kind) {
    case "text":
      return text;
    case "number":
    case "integer":
      return word === "" ? undefined : Number(word);
    case "boolean":
      return YES.has(word) ? true : NO.has(word) ? false : undefined;
    case "choice":
      return indexed(field, word);
    case "choices": {
      const chosen = word.split(/[\s,]+/).filter((each) => each !== "")
        .map((each) => indexed(field, each));
      const known = chosen.filter((each) => each !== undefined);
      return known.length === chosen.length ? known : undefined;
    }
    case "unknown":
      return undefined;
  }
}

const TAKES: Readonly<Record<ElicitField["kind"], string>> = {
  text: "it takes a text",
  number: "it takes a number",
  integer: "it takes a whole number",
  boolean: "it takes yes or no",
  choice: "type the number of one choice",
  choices: "type the numbers of choices, as 1,3",
  unknown: "Remit cannot ask for a value of this form",
};

/** Parses typed text; `=` takes the server's suggestion. */
export function readTyped(field: ElicitField, typed: string): Held {
  const value = typed.trim() === "=" && field.suggested !== undefined
    ? field.suggested
    : valueOf(field, typed);
  if (value === undefined) return { wrong: TAKES[field.kind] };
  const wrong = wrongIn(field, value);
  return wrong === undefined ? { value } : { wrong };
}

const Given = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
);

/** Why a filled form cannot be sent; undefined when it can. */
export function wrongForm(form: ElicitForm, given: unknown): string | undefined {
  const parsed = Given.safeParse(given);
  if (!parsed.success) return "it is no object of texts, numbers and choices";
  const { data } = parsed;
  for (const name of Object.keys(data)) {
    if (!form.fields.some((field) => field.name === name)) return `nothing asks for "${name}"`;
  }
  for (const field of form.fields) {
    const value = Object.hasOwn(data, field.name) ? data[field.name] : undefined;
    if (value === undefined) {
      if (field.required) return `"${field.name}" is required`;
      continue;
    }
    const wrong = wrongIn(field, value);
    if (wrong !== undefined) return `"${field.name}": ${wrong}`;
  }
  return JSON.stringify(data).length > FORM_CHARACTERS
    ? `it is longer than ${FORM_CHARACTERS} characters`
    : undefined;
}

const SECRET_WORDS =
  /pass(?:word|phrase|code)|(?:access|api|private|secret).?(?:key|token)|card.?number|one.?time.?code|seed.?phrase/i;

/** Whether a field seems to ask for a secret, which no server may do in a form. */
export function wantsSecret(field: ElicitField): boolean {
  const { name, title, description } = field;
  return namesSecret(name) || namesSecret(title) || SECRET_WORDS.test(description.slice(0, 2_000));
}
