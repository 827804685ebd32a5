/** Fields and buttons: what they are, what they hold, and the lines that show it. @module */
import {
  type FieldKind,
  type FieldOption,
  roleOf,
  type ShownField,
  stateOf,
} from "../text/page_form.ts";
import { quoted } from "../text/page_text.ts";
import type { Canvas } from "./canvas.ts";
import { descendants, type Element, rawText } from "./dom.ts";

/** What a control is; `action` runs a script. */
export type ControlKind = FieldKind | "hidden" | "submit" | "action";

const NAMES: ReadonlySet<string> = new Set(["input", "textarea", "select", "button"]);
const ACTIONS: ReadonlySet<string> = new Set(
  "button tab menuitem menuitemcheckbox menuitemradio switch treeitem checkbox radio option".split(
    " ",
  ),
);
const KINDS: ReadonlyMap<string, ControlKind> = new Map([
  ["checkbox", "checkbox"],
  ["radio", "radio"],
  ["hidden", "hidden"],
  ["password", "password"],
  ["file", "file"],
  ["submit", "submit"],
  ["image", "submit"],
  ["button", "action"],
  ["reset", "action"],
]);
/** What no agent types: passwords, codes, cards. */
const SECRET = /password|one-time-code|cc-(number|csc)/;

/** Whether the element is a control of a form. */
export function isControl({ name }: Element): boolean {
  return NAMES.has(name);
}

/** Whether clicking it does something by a script alone. */
export function isAction({ role, attributes, name }: Element): boolean {
  if (isControl({ name } as Element)) return false;
  return ACTIONS.has(role) || ACTIONS.has(attributes.get("role")?.trim() ?? "") ||
    name === "summary";
}

/** The kind of a control. */
export function kindOf({ name, attributes }: Element): ControlKind {
  const type = attributes.get("type")?.trim().toLowerCase() ?? "";
  if (name === "button") return type === "button" || type === "reset" ? "action" : "submit";
  if (name !== "input") return name === "select" ? "select" : "textarea";
  const kind = KINDS.get(type) ?? "text";
  const secret = SECRET.test(attributes.get("autocomplete")?.toLowerCase() ?? "");
  return secret && kind === "text" ? "password" : kind;
}

/** The choices of a `select`. */
function optionsOf(select: Element): readonly FieldOption[] {
  return [...descendants(select)].filter(({ name }) => name === "option").map((option) => {
    const text = rawText(option).replace(/\s+/g, " ").trim();
    const { attributes, on } = option;
    return {
      ...{
        chosen: on,
        value: attributes.get("value") ?? text,
        label: attributes.get("label") ?? text,
      },
      disabled: attributes.has("disabled"),
    };
  });
}

/** What is around a control. */
export interface FieldContext {
  /** The form that it belongs to. */
  readonly form: Element | undefined;
  /** Its name as people see it. */
  readonly label: string;
  /** The address of the page. */
  readonly page: string;
}

/** The line of a control; undefined for one that nobody sees. */
export function controlLine(
  canvas: Canvas,
  control: Element,
  context: FieldContext,
): string | undefined {
  const kind = kindOf(control);
  if (kind === "hidden") return undefined;
  const { attributes, disabled, id } = control;
  const name = attributes.get("name") ?? "";
  const button = kind === "submit" || kind === "action";
  const own = context.label || (button ? attributes.get("value") || "Submit" : name);
  const what = quoted(own);
  if (kind === "password" || kind === "file") {
    return `${kind} ${what}${stateOf(shownField(control, kind))}`;
  }
  const off = disabled || attributes.has("disabled");
  const refOf = (target: Parameters<Canvas["ref"]>[0]): string =>
    off ? "(disabled)" : canvas.ref(target) ?? "(no ref: too many)";
  if (kind === "submit" && context.form !== undefined) {
    return `submit button ${refOf({ kind: "submit", id, form: context.form.id })} ${what}`;
  }
  if (kind === "submit" || kind === "action") {
    return `button ${refOf({ kind: "button", id })} ${what} (a script) → ${context.page}`;
  }
  const role = roleOf(kind, attributes.has("multiple"));
  return `${role} ${refOf({ kind: "field", id, field: kind })} ${what}` +
    stateOf(shownField(control, kind));
}

/** A field as it is shown. */
function shownField(control: Element, kind: FieldKind): ShownField {
  const { attributes, value = "", on } = control;
  const most = Number.parseInt(attributes.get("maxlength") ?? "", 10);
  return {
    kind,
    on,
    name: attributes.get("name") ?? "",
    value: kind === "checkbox" || kind === "radio" ? attributes.get("value") ?? "on" : value,
    options: kind === "select" ? optionsOf(control) : [],
    multiple: attributes.has("multiple"),
    required: attributes.has("required"),
    readOnly: attributes.has("readonly"),
    most: most >= 0 ? most : undefined,
  };
}
