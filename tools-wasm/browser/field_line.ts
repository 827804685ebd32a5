/** Lines for forms and their controls. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Canvas } from "./canvas.ts";
import { roleOf, sendingCall, sendingWays, stateOf } from "../../text/page_form.ts";
import { quoted } from "../../text/page_text.ts";
import type { Control } from "./control.ts";
import type { Form } from "./form.ts";
import { requestOf } from "./form_request.ts";

/** Maximum number of a form's buttons whose requests are shown. */
const BUTTONS = 20;

/** The line of a control; undefined for a hidden one. */
export function controlLine(canvas: Canvas, control: Control, label: string): string | undefined {
  const { kind } = control;
  const form = canvas.forms.owners.get(control);
  const what = quoted(
    label !== "" ? label : control.submits === undefined ? control.name : control.value || "Submit",
  );
  if (kind === "hidden") return undefined;
  if (kind === "inert") return `button ${what} (needs a script: does nothing here)`;
  const button = kind === "submit" || kind === "image";
  const role = button ? "submit button" : roleOf(kind, control.multiple);
  if (form === undefined) return `${role} ${what} (in no form: does nothing here)`;
  const ref = control.disabled
    ? "(disabled)"
    : canvas.ref({ kind: button ? "button" : "field", form, control }) ?? "(no ref: too many)";
  const state = button
    ? ""
    : stateOf({ ...control, kind, on: control.checked, most: control.most });
  return `${role} ${ref} ${what}${state}`;
}

/** The lines after a form: exactly what each way of sending it sends, with its current values. */
export function sendingLines(
  form: Form,
  targets: Canvas["targets"],
  ref: string | undefined,
): readonly string[] {
  const ways: (readonly [ref: string, request: string])[] = ref === undefined
    ? []
    : [[ref, said(form)]];
  for (const [own, target] of targets) {
    if (target.kind !== "button" || target.form !== form || ways.length > BUTTONS) continue;
    ways.push([own, said(form, target.control)]);
  }
  const hidden =
    form.controls.filter(({ kind, disabled }) => kind === "hidden" && !disabled).length;
  return sendingWays(ways, hidden);
}

function said(form: Form, button?: Control): string {
  try {
    const request = requestOf(form, { button });
    return sendingCall(request.url, request.method === "GET" ? undefined : request.body);
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}
