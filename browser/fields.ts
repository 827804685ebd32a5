/** Fields and buttons: what they are, what they hold, and the lines that show it. @module */
import type { Canvas, FieldKind } from "./canvas.ts";
import { quoted } from "../text/page_text.ts";
import { descendants, type Element, rawText } from "./dom.ts";

/** What a control is; `action` runs a script. */
export type ControlKind = FieldKind | "hidden" | "submit" | "action";

/** A choice of a `select`. */
export interface Option {
  readonly value: string;
  readonly label: string;
  readonly on: boolean;
  readonly disabled: boolean;
}

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
const OPTIONS = 50;

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
function optionsOf(select: Element): readonly Option[] {
  return [...descendants(select)].filter(({ name }) => name === "option").map((option) => {
    const text = rawText(option).replace(/\s+/g, " ").trim();
    const { attributes, on } = option;
    return {
      ...{ on, value: attributes.get("value") ?? text, label: attributes.get("label") ?? text },
      disabled: attributes.has("disabled"),
    };
  });
}

/** What is around a control. */
export interface Around {
  /** The form that it belongs to. */
  readonly form: Element | undefined;
  /** Its name as people see it. */
  readonly label: string;
  /** The address of the page. */
  readonly page: string;
}

/** The line of a control; undefined for one that nobody sees. */
export function controlLine(canvas: Canvas, control: Element, around: Around): string | undefined {
  const kind = kindOf(control);
  if (kind === "hidden") return undefined;
  const { attributes, disabled, id } = control;
  const name = attributes.get("name") ?? "";
  const button = kind === "submit" || kind === "action";
  const own = around.label || (button ? attributes.get("value") || "Submit" : name);
  const what = quoted(own);
  if (kind === "password") {
    return `password ${what} (never typed by an agent: a person has to do this)`;
  }
  if (kind === "file") return `file ${what} (uploads are not in this version)`;
  const off = disabled || attributes.has("disabled");
  const refOf = (target: Parameters<Canvas["ref"]>[0]): string =>
    off ? "(disabled)" : canvas.ref(target) ?? "(no ref: too many)";
  if (kind === "submit" && around.form !== undefined) {
    return `submit button ${refOf({ kind: "submit", id, form: around.form.id })} ${what}`;
  }
  if (kind === "submit" || kind === "action") {
    return `button ${refOf({ kind: "button", id })} ${what} (a script) → ${around.page}`;
  }
  return `${roleOf(kind, attributes)} ${refOf({ kind: "field", id, field: kind })} ${what}` +
    stateOf(control, kind);
}

function roleOf(kind: FieldKind, attributes: Element["attributes"]): string {
  if (kind === "text") return "textbox";
  return kind === "select" ? (attributes.has("multiple") ? "listbox" : "combobox") : kind;
}

function stateOf(control: Element, kind: FieldKind): string {
  const { attributes, value = "", on } = control;
  const more: string[] = [];
  if (kind === "text" || kind === "textarea") more.push(`value ${quoted(value, 500)}`);
  if (kind === "checkbox" || kind === "radio") {
    more.push(on ? "on" : "off", `sends ${quoted(attributes.get("value") ?? "on")}`);
  }
  if (kind === "select") more.push(choices(optionsOf(control), attributes.has("multiple")));
  if (attributes.has("required")) more.push("required");
  if (attributes.has("readonly")) more.push("read-only");
  const most = Number.parseInt(attributes.get("maxlength") ?? "", 10);
  if (most >= 0) more.push(`at most ${most} characters`);
  return ` name ${quoted(attributes.get("name") ?? "", 80)}, ${more.join(", ")}`;
}

function choices(options: readonly Option[], multiple: boolean): string {
  const listed = options.slice(0, OPTIONS).map((option) =>
    quoted(option.value, 80) +
    (option.label === option.value ? "" : ` (${quoted(option.label, 80)})`) +
    (option.on ? "*" : "") + (option.disabled ? " disabled" : "")
  );
  const rest = options.length - listed.length;
  const more = rest > 0 ? ` and ${rest} more` : "";
  return `${multiple ? "any" : "one"} of ${listed.join(", ")}${more} (* is chosen)`;
}
