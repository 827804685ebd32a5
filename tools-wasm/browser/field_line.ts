/** Lines for forms and their controls. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Canvas } from "./canvas.ts";
import { quoted } from "../../text/page_text.ts";
import type { Control } from "./control.ts";
import type { Form } from "./form.ts";
import { requestOf } from "./form_request.ts";

/** Most characters of a request that are shown. */
const SHOWN = 4_000;
const OPTIONS = 50;
/** Most buttons of a form for which it is said what they send. */
const BUTTONS = 20;

/** The line of a control; undefined for one that nobody sees. */
export function controlLine(canvas: Canvas, control: Control, label: string): string | undefined {
  const { kind } = control;
  const form = canvas.forms.owners.get(control);
  const what = quoted(
    label !== "" ? label : control.submits === undefined ? control.name : control.value || "Submit",
  );
  if (kind === "hidden") return undefined;
  if (kind === "inert") return `button ${what} (needs a script: does nothing here)`;
  if (form === undefined) return `${roleOf(control)} ${what} (in no form: does nothing here)`;
  const button = control.submits !== undefined;
  const ref = control.disabled
    ? "(disabled)"
    : canvas.ref({ kind: button ? "button" : "field", form, control }) ?? "(no ref: too many)";
  return `${roleOf(control)} ${ref} ${what}${button ? "" : stateOf(control)}`;
}

function roleOf({ kind, multiple, submits }: Control): string {
  if (submits !== undefined) return "submit button";
  return kind === "text"
    ? "textbox"
    : kind === "select"
    ? (multiple ? "listbox" : "combobox")
    : kind;
}

function stateOf(
  { kind, name, value, checked, options, required, readOnly, multiple, most }: Control,
): string {
  if (kind === "password") return " (never typed by an agent: a person has to do this)";
  if (kind === "file") return " (uploads are not in this version)";
  const more: string[] = [];
  if (kind === "text" || kind === "textarea") more.push(`value ${quoted(value, 500)}`);
  if (kind === "checkbox" || kind === "radio") {
    more.push(checked ? "on" : "off", `sends ${quoted(value)}`);
  }
  if (kind === "select") {
    const listed = options.slice(0, OPTIONS).map((option) =>
      quoted(option.value, 80) +
      (option.label === option.value ? "" : ` (${quoted(option.label, 80)})`) +
      (option.selected ? "*" : "") + (option.disabled ? " disabled" : "")
    );
    const rest = options.length - listed.length;
    more.push(
      `${multiple ? "any" : "one"} of ${listed.join(", ")}${
        rest > 0 ? ` and ${rest} more` : ""
      } (* is chosen)`,
    );
  }
  if (required) more.push("required");
  if (readOnly) more.push("read-only");
  if (most !== undefined) more.push(`at most ${most} characters`);
  return ` name ${quoted(name, 80)}, ${more.join(", ")}`;
}

/** Lines after a form: exactly what each way of sending it sends, with the values that it has now. */
export function sendingLines(
  form: Form,
  targets: Canvas["targets"],
  ref: string | undefined,
): readonly string[] {
  const ways: (readonly [ref: string, said: string])[] = ref === undefined
    ? []
    : [[ref, said(form)]];
  for (const [own, target] of targets) {
    if (target.kind !== "button" || target.form !== form || ways.length > BUTTONS) continue;
    ways.push([own, said(form, target.control)]);
  }
  const refs = Map.groupBy(ways, ([, what]) => what);
  const hidden =
    form.controls.filter(({ kind, disabled }) => kind === "hidden" && !disabled).length;
  return [
    ...Array.from(
      refs,
      ([what, same]) => `sending ${same.map(([own]) => own).join(" or ")}: ${what}`,
    ),
    ...(hidden === 0
      ? []
      : [`(with ${hidden} hidden ${hidden === 1 ? "value" : "values"} of the page's own)`]),
  ];
}

function said(form: Form, button?: Control): string {
  try {
    const request = requestOf(form, { button });
    if (request.method === "GET") return `browser_submit, url ${request.url}`;
    const { body } = request;
    const shown = body.length > SHOWN
      ? `${JSON.stringify(body.slice(0, SHOWN))}… (${body.length} characters)`
      : JSON.stringify(body);
    return `browser_post, url ${request.url}, body ${shown}`;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}
