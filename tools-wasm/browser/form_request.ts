/**
 * The exact request of a form: HTML, section 4.10.21, for GET and POST with urlencoded bodies.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import { ADDRESS_CHARACTERS, formEncoded, writeAddress } from "./address.ts";
import type { Control } from "./control.ts";
import type { Form } from "./form.ts";

/** A caller's value for a control. */
export type Filling = string | boolean | readonly string[];

/** The request of a form. */
export type FormRequest =
  | { readonly method: "GET"; readonly url: string }
  | { readonly method: "POST"; readonly url: string; readonly body: string };

/** Maximum characters of a POST's body. */
const BODY = 200_000;

/**
 * The request when the form is sent by `button`, or without one by the Enter key.
 *
 * @throws Fault `refused` where this version cannot send such a form, `invalidArguments` where a
 * value does not fit, `tooLarge`
 */
export function requestOf(
  form: Form,
  { button, filled = new Map() }: {
    readonly button?: Control | undefined;
    readonly filled?: ReadonlyMap<Control, Filling>;
  } = {},
): FormRequest {
  const submitter = button ??
    form.controls.find(({ submits, disabled }) => submits !== undefined && !disabled);
  if (submitter?.disabled) {
    throw new Fault("refused", "Cannot send the form: this button is disabled");
  }
  const { method = form.method, encoding = form.encoding, place = form.place } =
    submitter?.submits ?? {};
  if (place.kind === "other") {
    throw new Fault(
      "refused",
      `Cannot send the form: it leads to ${place.what}, and only http and https are followed`,
    );
  }
  if (method === "dialog") {
    throw new Fault("refused", "Cannot send the form: it only closes a dialog, by a script");
  }
  const query = entriesOf(form, { submitter, filled })
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join("&");
  if (method === "get") {
    const url = writeAddress({ ...place.address, query: `?${query}` });
    if (url.length > ADDRESS_CHARACTERS) {
      throw new Fault(
        "tooLarge",
        `Cannot send the form: its address has more than ${ADDRESS_CHARACTERS} characters`,
      );
    }
    return { method: "GET", url };
  }
  if (encoding !== "application/x-www-form-urlencoded") {
    throw new Fault(
      "refused",
      `Cannot send the form: it wants ${encoding}, which this version does not write`,
    );
  }
  if (query.length > BODY) {
    throw new Fault(
      "tooLarge",
      `Cannot send the form: its body has more than ${BODY} characters`,
    );
  }
  return { method: "POST", url: place.url, body: query };
}

type Entry = readonly [name: string, value: string];

function entriesOf(
  { controls }: Form,
  by: { readonly submitter: Control | undefined; readonly filled: ReadonlyMap<Control, Filling> },
): readonly Entry[] {
  // Turning on one radio button turns off the others of the same name.
  const turned = new Set<string>();
  for (const [{ kind, name }] of by.filled) if (kind === "radio") turned.add(name);
  const on = new Map<string, Control>();
  for (const each of controls) if (each.kind === "radio" && each.checked) on.set(each.name, each);
  return controls.flatMap((control): readonly Entry[] => {
    const { kind, name, value, disabled } = control;
    if (disabled || kind === "inert") return [];
    if (control.submits !== undefined) return control === by.submitter ? ofButton(control) : [];
    if (name === "") return [];
    const filling = by.filled.get(control);
    switch (kind) {
      case "checkbox":
        return (filling ?? control.checked) === true ? [[name, value]] : [];
      case "radio":
        return (turned.has(name) ? filling === true : on.get(name) === control)
          ? [[name, value]]
          : [];
      case "select":
        return chosen(control, filling).map((each): Entry => [name, each]);
      case "file":
        return [[name, ""]];
      case "hidden":
        return [[name, name.toLowerCase() === "_charset_" ? "UTF-8" : value]];
      default:
        return [[name, typeof filling === "string" ? filling : value]];
    }
  });
}

function ofButton({ kind, name, value }: Control): readonly Entry[] {
  if (kind !== "image") return name === "" ? [] : [[name, value]];
  const prefix = name === "" ? "" : `${name}.`;
  return [[`${prefix}x`, "0"], [`${prefix}y`, "0"]];
}

function chosen({ options }: Control, filling: Filling | undefined): readonly string[] {
  if (filling === undefined) {
    return options.filter((each) => each.chosen && !each.disabled).map(({ value }) => value);
  }
  const wanted: readonly unknown[] = Array.isArray(filling) ? filling : [filling];
  return options.map(({ value }) => value).filter((value, at, all) =>
    wanted.includes(value) && all.indexOf(value) === at
  );
}

function encoded(text: string): string {
  return formEncoded(text.replace(/\r\n?|\n/g, "\r\n"));
}
