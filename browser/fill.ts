/** Fills the fields of a page, named by ref. Used by session.ts. @module */
import type { Json, JsonObject } from "../contracts/base/json.ts";
import { cannotFill, mustFit } from "../text/page_form.ts";
import type { Target } from "./canvas.ts";
import { descendants, type Element } from "./dom.ts";
import { CHOOSE, TURN, TYPE } from "./page_functions.ts";
import type { View } from "./view.ts";
import type { World } from "./world.ts";

type Field = Extract<Target, { kind: "field" }>;

/**
 * Fills `fields` in the given order.
 *
 * @throws Fault that names the field and what it accepts
 */
export async function fillFields(world: World, view: View, fields: JsonObject): Promise<void> {
  const filled: (readonly [string, Field, Json])[] = [];
  for (const [ref, filling] of Object.entries(fields)) {
    const target = view.targets.get(ref);
    if (target?.kind !== "field") {
      throw cannotFill(ref, "it is no field; use the refs that the newest snapshot lists");
    }
    const attributes = elementOf(view, target.id)?.attributes;
    const most = Number.parseInt(attributes?.get("maxlength") ?? "", 10);
    mustFit(ref, {
      kind: target.field,
      readOnly: attributes?.has("readonly") === true,
      most: most >= 0 ? most : undefined,
    }, filling);
    filled.push([ref, target, filling]);
  }
  for (const [ref, target, filling] of filled) await fill(world, ref, target, filling);
}

function elementOf({ root }: View, id: number): Element | undefined {
  for (const each of descendants(root)) if (each.id === id) return each;
  return undefined;
}

async function fill(world: World, ref: string, { id, field }: Field, filling: Json): Promise<void> {
  switch (field) {
    case "checkbox":
    case "radio":
      if (await world.call(TURN, id, [filling === true]) !== filling) {
        throw cannotFill(ref, "the page does not let it be turned");
      }
      return;
    case "select": {
      const wanted = (Array.isArray(filling) ? filling : [filling]).map(String);
      const options = await world.call(CHOOSE, id, wanted);
      if (!Array.isArray(options)) return;
      throw cannotFill(
        ref,
        `its options are ${options.map((each) => JSON.stringify(each)).join(", ")}`,
      );
    }
    default: {
      const held = await world.call(TYPE, id, [String(filling)]);
      const wanted = String(filling).replace(/\r\n?/g, "\n");
      if (held !== wanted) {
        throw cannotFill(ref, `the page makes ${JSON.stringify(String(held).slice(0, 200))} of it`);
      }
    }
  }
}
