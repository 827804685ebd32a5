/** Fills the fields of a page, as a caller names them: by ref. @module */
import { Fault } from "../contracts/base/fault.ts";
import type { Json, JsonObject } from "../contracts/base/json.ts";
import type { Target } from "./canvas.ts";
import { descendants, type Element } from "./dom.ts";
import { CHOOSE, TURN, TYPE } from "./page_functions.ts";
import type { View } from "./view.ts";
import type { World } from "./world.ts";

type Field = Extract<Target, { kind: "field" }>;

/**
 * Fills `fields` in the order in which they are named.
 *
 * @throws Fault that names the field and says what it takes
 */
export async function fillFields(world: World, view: View, fields: JsonObject): Promise<void> {
  const filled: (readonly [string, Field, Json])[] = [];
  for (const [ref, filling] of Object.entries(fields)) {
    const target = view.targets.get(ref);
    if (target?.kind !== "field") {
      throw bad(ref, "it is no field; use the refs that the newest snapshot lists");
    }
    fits(ref, target, filling, elementOf(view, target.id));
    filled.push([ref, target, filling]);
  }
  for (const [ref, target, filling] of filled) await fill(world, ref, target, filling);
}

function elementOf({ root }: View, id: number): Element | undefined {
  for (const each of descendants(root)) if (each.id === id) return each;
  return undefined;
}

function fits(ref: string, { field }: Field, filling: Json, element: Element | undefined): void {
  const attributes = element?.attributes;
  switch (field) {
    case "password":
      throw new Fault(
        "refused",
        `Cannot fill ${ref}: it asks for a password or another secret, which no agent types; ask the person to do this step`,
      );
    case "file":
      throw new Fault(
        "refused",
        `Cannot fill ${ref}: this version does not upload files; ask the person to do this step`,
      );
    case "checkbox":
      if (typeof filling !== "boolean") throw bad(ref, "a check box takes true or false");
      return;
    case "radio":
      if (filling === true) return;
      throw bad(ref, "a radio button takes true; to choose another one, name that one instead");
    case "select":
      if (typeof filling === "string") return;
      if (Array.isArray(filling) && filling.every((each) => typeof each === "string")) return;
      throw bad(ref, "it takes the value of one of its options");
    case "text":
    case "textarea": {
      if (typeof filling !== "string") throw bad(ref, "it takes a text");
      if (attributes?.has("readonly")) throw bad(ref, "it is read-only");
      if (field === "text" && /[\r\n]/.test(filling)) throw bad(ref, "it takes one line");
      const most = Number.parseInt(attributes?.get("maxlength") ?? "", 10);
      if (filling.length > most) throw bad(ref, `it takes at most ${most} characters`);
    }
  }
}

async function fill(world: World, ref: string, { id, field }: Field, filling: Json): Promise<void> {
  switch (field) {
    case "checkbox":
    case "radio":
      if (await world.call(TURN, id, [filling === true]) !== filling) {
        throw bad(ref, "the page does not let it be turned");
      }
      return;
    case "select": {
      const wanted = (Array.isArray(filling) ? filling : [filling]).map(String);
      const options = await world.call(CHOOSE, id, wanted);
      if (!Array.isArray(options)) return;
      throw bad(ref, `its options are ${options.map((each) => JSON.stringify(each)).join(", ")}`);
    }
    default: {
      const held = await world.call(TYPE, id, [String(filling)]);
      const wanted = String(filling).replace(/\r\n?/g, "\n");
      if (held !== wanted) {
        throw bad(ref, `the page makes ${JSON.stringify(String(held).slice(0, 200))} of it`);
      }
    }
  }
}

function bad(ref: string, why: string): Fault {
  return new Fault("invalidArguments", `Cannot fill ${JSON.stringify(ref.slice(0, 32))}: ${why}`);
}
