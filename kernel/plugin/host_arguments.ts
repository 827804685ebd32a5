/** Arguments of host functions. TRUST: a plugin wrote them. @module */
import { isObject } from "../../contracts/json.ts";
import { Fault, type JsonObject } from "../../contracts/mod.ts";

/** Bytes as text; undefined when they are not UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // Not UTF-8: the plugin gets the bytes.
  }
}

/** The content of a file in `text` or `base64`: text in any case. */
export function contentIn(args: JsonObject): string {
  const { text, base64 } = args;
  if (typeof text === "string") return text;
  if (typeof base64 !== "string") throw badArgument("text", "it is missing");
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.fromBase64(base64);
  } catch {
    throw badArgument("base64", "it is not base64");
  }
  const content = textOf(bytes);
  if (content === undefined) throw badArgument("base64", "files that are staged hold UTF-8 text");
  return content;
}

/** Headers of a request. */
export function headersIn(args: JsonObject): Record<string, string> {
  const headers = args["headers"] ?? {};
  if (!isObject(headers)) throw badArgument("headers", "it is not an object");
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (typeof value !== "string") throw badArgument("headers", "a value is not a text");
      return [name, value];
    }),
  );
}

/** A text that must be there. */
export function textIn(args: JsonObject, name: string): string {
  const value = args[name];
  if (typeof value === "string") return value;
  throw badArgument(name, value === undefined ? "it is missing" : "it is not a text");
}

/** Why an argument is not taken. */
export function badArgument(name: string, why: string): Fault {
  return new Fault("invalidArguments", `Cannot use argument "${name}": ${why}`);
}
