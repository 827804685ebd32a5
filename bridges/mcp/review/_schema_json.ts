/** Looks at JSON values that stand in a schema. @module */
import { isList, isObject } from "../../../contracts/json.ts";
import type { Json } from "../../../contracts/mod.ts";
import { cleanText } from "./clean_text.ts";

/** Whether a value may be shown to a model as it is: short, flat enough, nothing unseen in its texts. */
export function isPlain(value: Json, most: number, depth = 3): boolean {
  if (typeof value === "string") {
    return value.length <= most && cleanText(value, Infinity).text === value;
  }
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0 || JSON.stringify(value).length > most) return false;
  return Object.entries(value).every(([key, item]) =>
    isPlain(key, most) && key !== "__proto__" && isPlain(item, most, depth - 1)
  );
}

/** What a local reference (`#`, `#/$defs/a`) names; undefined for one that leads elsewhere or nowhere. */
export function pointedAt(root: Json, ref: Json | undefined): Json | undefined {
  if (typeof ref !== "string" || ref.length > 512 || !/^#(?:\/|$)/.test(ref)) return undefined;
  let at: Json | undefined = root;
  for (const part of ref.split("/").slice(1)) {
    const key = unescaped(part);
    if (isList(at)) at = /^[0-9]{1,4}$/.test(key) ? at[Number(key)] : undefined;
    else at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

function unescaped(part: string): string {
  const plain = part.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    // A stray percent sign stands for itself.
    return plain;
  }
}
