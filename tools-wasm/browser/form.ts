/** Forms of a page: their controls and addresses. HTML, section 4.10. @module */
import { type Place, readPlace } from "./address.ts";
import {
  type Bases,
  type Control,
  controlOf,
  isControl,
  sendingOf,
  URLENCODED,
} from "./control.ts";
import { closest, descendants, type Element } from "./tree.ts";

/** A form. */
export interface Form {
  readonly method: string;
  readonly encoding: string;
  readonly place: Place;
  /** In the order of the page. */
  readonly controls: readonly Control[];
}

/** The forms of a page. */
export interface Forms {
  readonly forms: ReadonlyMap<Element, Form>;
  readonly controls: ReadonlyMap<Element, Control>;
  /** The form that a control belongs to. */
  readonly owners: ReadonlyMap<Control, Form>;
}

const FORM: ReadonlySet<string> = new Set(["form"]);
const OFF: ReadonlySet<string> = new Set(["datalist"]);

/** Reads all forms beneath `root`. */
export function readForms(root: Element, bases: Bases): Forms {
  const found = [...descendants(root)];
  const byId = new Map<string, Element>();
  const held = new Map<Element, Control[]>();
  for (const element of found) {
    if (element.name !== "form") continue;
    held.set(element, []);
    const id = element.attributes.get("id");
    if (id !== undefined && !byId.has(id)) byId.set(id, element);
  }
  const controls = new Map<Element, Control>();
  for (const element of found) {
    if (!isControl(element) || closest(element, OFF) !== undefined) continue;
    const control = controlOf(element, bases);
    controls.set(element, control);
    const named = element.attributes.get("form");
    const form = named === undefined ? closest(element, FORM) : byId.get(named);
    if (form !== undefined) held.get(form)?.push(control);
  }
  const forms = new Map<Element, Form>();
  const owners = new Map<Control, Form>();
  for (const [element, own] of held) {
    const form = formOf(element, own, bases);
    forms.set(element, form);
    for (const control of own) owners.set(control, form);
  }
  return { forms, controls, owners };
}

function formOf({ attributes }: Element, controls: readonly Control[], bases: Bases): Form {
  const { method = "get", encoding = URLENCODED, place } = sendingOf(attributes, bases, "");
  return { method, encoding, controls, place: place ?? readPlace("", bases.page) };
}
