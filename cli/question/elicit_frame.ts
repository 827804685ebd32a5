/**
 * Draws an imported server's form inside a question's frame: the server's words behind the inner bar, Remit's own beside
 * them.
 * @module
 */
import type { Question } from "../../contracts/authority/mod.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { type ElicitField, type ElicitForm, parseElicit } from "./elicit_form.ts";
import { wantsSecret } from "./elicit_value.ts";
import type { Paint } from "../terminal/paint.ts";

/** Draws into a frame. `block` draws untrusted lines, the others Remit's own. */
export interface FramePen {
  readonly paint: Paint;
  own(text?: string): void;
  field(name: string, text: string): void;
  block(lines: readonly string[], max: number): void;
}

const MESSAGE_LINES = 40;
const FORM_LINES = 200;
const WHOLE = { prefix: "", max: 100_000, maxLines: 10_000, columns: 1_000_000 };

function rangeWords(field: ElicitField): string {
  const { min, max } = field;
  const unit = field.kind === "text" ? " characters" : field.kind === "choices" ? " of them" : "";
  if (min === undefined && max === undefined) return "";
  if (min === undefined) return `at most ${max}${unit}`;
  return max === undefined ? `at least ${min}${unit}` : `${min} to ${max}${unit}`;
}

const KINDS: Readonly<Record<ElicitField["kind"], string>> = {
  text: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "yes or no",
  choice: "one of these",
  choices: "some of these",
  unknown: "a value that cannot be asked for here",
};

const FORMATS: Readonly<Record<NonNullable<ElicitField["format"]>, string>> = {
  email: "a mail address",
  uri: "a web address",
  date: "a date, as 2026-11-22",
  "date-time": "a time, as 2026-11-22T18:00:00Z",
};

/** The values that a field takes, in Remit's words. */
function fieldWords(field: ElicitField): string {
  return [
    field.format === undefined ? KINDS[field.kind] : FORMATS[field.format],
    rangeWords(field),
    field.required ? "required" : "optional",
  ].filter((each) => each !== "").join(", ");
}

/** A field's texts from the server, made safe: one line each. */
export function fieldLines(field: ElicitField): readonly string[] {
  const title = field.title === "" || field.title === field.name
    ? ""
    : `: ${displayText(field.title, { max: 300 })}`;
  return [
    `${displayText(field.name, { max: 200 })}${title}  (${fieldWords(field)})`,
    ...(field.description === ""
      ? []
      : displayBlock(field.description, { ...WHOLE, prefix: "  ", maxLines: 12 })),
    ...field.options.map((option, n) =>
      `  ${n + 1}  ${displayText(option.label, { max: 200 })}${
        option.label === option.value ? "" : `  = ${displayText(option.value, { max: 200 })}`
      }`
    ),
    ...(field.suggested === undefined ? [] : [
      `  = takes its suggestion: ${displayText(JSON.stringify(field.suggested), { max: 300 })}`,
    ]),
  ];
}

/** The host of an address, with a note on anything odd; undefined when it is no web address. */
export function hostWords(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return undefined;
  return [
    displayText(url.host, { max: 300 }),
    ...(url.protocol === "http:" ? ["NOT encrypted"] : []),
    ...(url.username !== "" || url.password !== "" ? ["what stands before the @ is no host"] : []),
    ...(url.hostname.split(".").some((part) => part.startsWith("xn--"))
      ? ["letters that may look like others"]
      : []),
  ].join(", ");
}

function drawForm(form: ElicitForm, pen: FramePen): void {
  pen.field("wants", form.fields.length === 0 ? "no more than a yes" : "these fields");
  pen.block(form.fields.flatMap((field) => fieldLines(field)), FORM_LINES);
  const secrets = form.fields.filter(wantsSecret);
  if (secrets.length === 0) return;
  pen.field(
    pen.paint.red("a secret?  "),
    "no server may ask for passwords or keys this way: these look so",
  );
  pen.block(secrets.map((field) => displayText(field.name, { max: 200 })), 20);
}

function drawAddress(address: string, pen: FramePen): void {
  const host = hostWords(address);
  pen.field("wants", "you to visit an address; Remit opens nothing");
  pen.field(
    "host",
    host === undefined ? pen.paint.red("none: this is no web address") : pen.paint.bold(host),
  );
  pen.field("address", "exactly this");
  pen.block([displayText(address, { max: 8_192 })], 20);
}

/** Draws the body of a question of kind `elicit`. Shows the raw arguments of a form that cannot be read. */
export function drawElicit(question: Question, pen: FramePen): void {
  let form: ElicitForm;
  try {
    form = parseElicit(question);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    pen.field("server", displayText(error.message, { max: 500 }));
    pen.block(displayBlock(question.argumentsText, WHOLE), MESSAGE_LINES);
    return;
  }
  pen.field(
    "server",
    `${
      displayText(form.server, { max: 64 })
    }, which is NOT trusted: the words behind │ are its own`,
  );
  pen.field("says", "exactly this");
  pen.block(displayBlock(form.message, WHOLE), MESSAGE_LINES);
  if (form.url === undefined) drawForm(form, pen);
  else drawAddress(form.url, pen);
  pen.field(
    "then",
    `what you give goes to ${displayText(form.server, { max: 64 })}, and nobody can take it back`,
  );
}
