/**
 * Asks a person to fill in an imported server's form, field by field, and shows the whole before sending it. Enter alone
 * declines: a suggestion of the server's is only taken by an explicit sign.
 * @module
 */
import type { Question } from "../../contracts/authority/mod.ts";
import { canonicalJson } from "../../port/mod.ts";
import { toJson } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import { hardWrap } from "../terminal/columns.ts";
import { type ElicitField, type ElicitForm, type ElicitValue, parseElicit } from "./elicit_form.ts";
import { fieldLines } from "./elicit_frame.ts";
import { FORM_CHARACTERS, readTyped, wantsSecret } from "./elicit_value.ts";
import type { Keyboard, Powers } from "../powers.ts";
import { holdsSecret } from "../../text/looks_secret.ts";
import type { Verdict } from "./sign_answer.ts";

/** The terminal for {@link askForm}. */
export interface FormParts {
  readonly screen: Powers["screen"];
  readonly keyboard: Keyboard;
  readonly signal?: AbortSignal | undefined;
}

type Choice = Pick<Verdict, "decision" | "for" | "say">;

const DECLINED: Choice = { decision: "deny", for: "once" };

/** A value, an optional field left out, or the person's no. */
type Filled = { readonly value: ElicitValue } | "left" | "declined";

async function askField(field: ElicitField, parts: FormParts): Promise<Filled> {
  const { screen } = parts, { paint } = screen;
  for (const line of fieldLines(field)) {
    hardWrap(line, screen.width - 9).forEach((piece, n) =>
      screen.say(`    ${paint.dim(n === 0 ? "│" : "│ ↪")} ${piece}`.trimEnd())
    );
  }
  if (wantsSecret(field)) {
    screen.say(`  ${paint.red("this looks like a secret: no server may ask for one this way")}`);
  }
  const empty = field.required ? "Enter declines" : "Enter leaves it out";
  for (;;) {
    const typed = await parts.keyboard.line(paint.bold(`  value (${empty}) › `), {
      ...(parts.signal === undefined ? {} : { signal: parts.signal }),
    });
    if (typed === undefined) return "declined";
    if (typed.trim() === "") return field.required ? "declined" : "left";
    const held = readTyped(field, typed);
    if ("value" in held) return held;
    screen.say(paint.dim(`  not that: ${held.wrong}`));
  }
}

/** Asks for all fields; undefined when the person declined. */
async function fillForm(form: ElicitForm, parts: FormParts): Promise<string | undefined> {
  const filled: [string, ElicitValue][] = [];
  for (const field of form.fields) {
    if (field.kind === "unknown" && !field.required) continue;
    const answer = field.kind === "unknown" ? "declined" : await askField(field, parts);
    if (answer === "declined") return undefined;
    if (answer !== "left") filled.push([field.name, answer.value]);
  }
  return canonicalJson(toJson(Object.fromEntries(filled)));
}

function valuesIn(text: string): readonly string[] {
  return Object.values(JSON.parse(text)).flat().map(String);
}

/** Shows the filled form and asks for the final yes. */
async function lastLook(form: ElicitForm, text: string, parts: FormParts): Promise<boolean> {
  const { screen } = parts, { paint } = screen;
  const server = displayText(form.server, { max: 64 });
  screen.say("");
  screen.say(`  ${paint.bold(`this goes to ${server}, exactly:`)}`);
  for (const piece of hardWrap(displayText(text, { max: FORM_CHARACTERS }), screen.width - 8)) {
    screen.say(`    ${piece}`);
  }
  if (valuesIn(text).some(holdsSecret)) {
    screen.say(`  ${paint.red("something in it looks like a key")}`);
  }
  const typed = await parts.keyboard.line(paint.bold("  send it? y, or Enter for no › "), {
    ...(parts.signal === undefined ? {} : { signal: parts.signal }),
  });
  return /^(?:y|yes)$/i.test((typed ?? "").trim());
}

/** Asks for each field, after a first yes. The choice carries the form as JSON in `say`. */
export async function askForm(question: Question, parts: FormParts): Promise<Choice> {
  const form = parseElicit(question);
  if (form.url !== undefined) {
    parts.screen.say("  Open the address yourself, if you trust its host.");
    return { decision: "allow", for: "once" };
  }
  const text = await fillForm(form, parts);
  if (text === undefined) return declined(parts);
  if (text.length > FORM_CHARACTERS) {
    parts.screen.say(`  That is longer than ${FORM_CHARACTERS} characters, and is not sent.`);
    return DECLINED;
  }
  if (form.fields.length > 0 && !(await lastLook(form, text, parts))) return declined(parts);
  return { decision: "allow", for: "once", say: text };
}

function declined(parts: FormParts): Choice {
  parts.screen.say(parts.screen.paint.dim("  declined: nothing is sent"));
  return DECLINED;
}
