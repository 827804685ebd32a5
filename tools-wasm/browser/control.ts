/** Form controls, as a page declares them. HTML, section 4.10. @module */
import type { FieldKind, FieldOption } from "../../text/page_form.ts";
import { type Address, type Place, readPlace } from "./address.ts";
import { closest, descendants, type Element, rawText } from "./tree.ts";

/** The kind of a control; `inert` does nothing without scripts. */
export type ControlKind = FieldKind | "hidden" | "submit" | "image" | "inert";

/** A control as the page declares it. */
export interface Control {
  readonly kind: ControlKind;
  readonly name: string;
  /** The initial value; of a check box or radio button, the value sent when it is on. */
  readonly value: string;
  readonly checked: boolean;
  readonly options: readonly FieldOption[];
  readonly multiple: boolean;
  readonly disabled: boolean;
  readonly readOnly: boolean;
  readonly required: boolean;
  /** Maximum length of its text, UTF-16 units. */
  readonly most?: number;
  /** A submit button's settings that override its form's. */
  readonly submits?: Sending;
}

/** How and where a form is sent. */
export interface Sending {
  readonly method?: string;
  readonly encoding?: string;
  readonly place?: Place;
}

/** The bases of a page's addresses. */
export interface Bases {
  readonly page: Address;
  /** The `<base>`, else the page. */
  readonly links: Address;
}

/** The default encoding of forms. */
export const URLENCODED = "application/x-www-form-urlencoded";
const NAMES: ReadonlySet<string> = new Set(["input", "textarea", "select", "button"]);
const FIELDSET: ReadonlySet<string> = new Set(["fieldset"]);

const KINDS: ReadonlyMap<string, ControlKind> = new Map(
  [
    ...["checkbox", "radio", "hidden", "password", "file", "submit", "image"].map((kind) =>
      [kind, kind] as const
    ),
    ["button", "inert"],
    ["reset", "inert"],
  ] as readonly (readonly [string, ControlKind])[],
);

/** Whether the element is a form control. */
export function isControl({ name }: Element): boolean {
  return NAMES.has(name);
}

/** A form's sending attributes or, with the prefix `form`, those of a button that override them. */
export function sendingOf(
  attributes: Element["attributes"],
  bases: Bases,
  prefix: "" | "form",
): Sending {
  const method = attributes.get(`${prefix}method`)?.trim().toLowerCase();
  const encoding = attributes.get(`${prefix}enctype`)?.trim().toLowerCase();
  const action = attributes.get(`${prefix}action`)?.trim();
  return {
    ...(method === undefined
      ? {}
      : { method: method === "post" || method === "dialog" ? method : "get" }),
    ...(encoding === undefined ? {} : { encoding: isOther(encoding) ? encoding : URLENCODED }),
    ...(action === undefined || action === "" ? {} : { place: readPlace(action, bases.links) }),
  };
}

function isOther(encoding: string): boolean {
  return encoding === "multipart/form-data" || encoding === "text/plain";
}

/** Reads a control. */
export function controlOf(element: Element, bases: Bases): Control {
  const { attributes } = element;
  const kind = kindOf(element);
  const most = Number.parseInt(attributes.get("maxlength") ?? "", 10);
  const options = kind === "select" ? optionsOf(element) : [];
  return {
    ...{ kind, options },
    name: attributes.get("name") ?? "",
    value: valueOf(element, kind),
    checked: attributes.has("checked"),
    multiple: attributes.has("multiple"),
    disabled: attributes.has("disabled") || isFieldsetOff(element),
    readOnly: attributes.has("readonly"),
    required: attributes.has("required"),
    ...(most >= 0 ? { most } : {}),
    ...(kind === "submit" || kind === "image"
      ? { submits: sendingOf(attributes, bases, "form") }
      : {}),
  };
}

function kindOf({ name, attributes }: Element): ControlKind {
  const type = attributes.get("type")?.trim().toLowerCase() ?? "";
  if (name === "button") return type === "button" || type === "reset" ? "inert" : "submit";
  if (name !== "input") return name === "select" ? "select" : "textarea";
  const secret = /password|one-time-code|cc-(number|csc)/.test(
    attributes.get("autocomplete")?.toLowerCase() ?? "",
  );
  const kind = KINDS.get(type) ?? "text";
  return secret && kind === "text" ? "password" : kind;
}

function valueOf(element: Element, kind: ControlKind): string {
  if (kind === "textarea") return rawText(element).replace(/^\r?\n/, "");
  const value = element.attributes.get("value");
  if (kind === "checkbox" || kind === "radio") return value ?? "on";
  return kind === "text" || kind === "password"
    ? (value ?? "").replace(/[\r\n]/g, "")
    : value ?? "";
}

function optionsOf(select: Element): readonly FieldOption[] {
  const options: FieldOption[] = [];
  for (const element of descendants(select)) {
    if (element.name !== "option") continue;
    const { attributes, parent } = element;
    const text = rawText(element).replace(/\s+/g, " ").trim();
    options.push({
      value: attributes.get("value") ?? text,
      label: attributes.get("label") ?? text,
      chosen: attributes.has("selected"),
      disabled: attributes.has("disabled") ||
        (parent?.name === "optgroup" && parent.attributes.has("disabled")),
    });
  }
  const chosen = options.findLastIndex((each) => each.chosen);
  if (select.attributes.has("multiple")) return options;
  const shown = Number.parseInt(select.attributes.get("size") ?? "1", 10);
  const index = chosen >= 0 || shown > 1 ? chosen : options.findIndex(({ disabled }) => !disabled);
  return options.map((option, at) => ({ ...option, chosen: at === index }));
}

function isFieldsetOff(element: Element): boolean {
  for (
    let at = closest(element, FIELDSET);
    at !== undefined;
    at = at.parent && closest(at.parent, FIELDSET)
  ) {
    if (at.attributes.has("disabled")) return true;
  }
  return false;
}
