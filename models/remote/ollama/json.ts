/** Parses Ollama's JSON, and explains its refusals. TRUST: from the provider. @module */
import type { WireResponse } from "../endpoint.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { again } from "../retry.ts";
import { type Fields, fieldsOf } from "../wire_json.ts";

/** A safe integer of at least `min`; undefined for any other value. */
export function wholeOf(value: unknown, min: number): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= min
    ? value
    : undefined;
}

/** Parses an object. Throws `upstream`. */
export function parseFields(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed("has a line that is not JSON", cause, true);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw malformed("has a line that is not an object");
  }
  return fieldsOf(value);
}

/** The non-empty lines of an answer; the last needs no newline. Rejects with `upstream` for invalid UTF-8. */
export async function* linesOf(body: WireResponse["body"]): AsyncGenerator<string, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (bytes?: Uint8Array): string => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch (cause) {
      throw malformed("is not UTF-8", cause);
    }
  };
  let parts: string[] = [];
  for await (const bytes of body) {
    const pieces = decode(bytes).split("\n");
    const last = pieces.pop() ?? "";
    for (const piece of pieces) {
      const line = parts.length === 0 ? piece : parts.join("") + piece;
      parts = [];
      if (line.trim() !== "") yield line;
    }
    if (last !== "") parts.push(last);
  }
  const rest = parts.join("") + decode();
  if (rest.trim() !== "") yield rest;
}

/** A whole answer of one object. Rejects with `upstream`. */
export async function objectOf(body: WireResponse["body"]): Promise<Fields> {
  const lines: string[] = [];
  for await (const line of linesOf(body)) lines.push(line);
  return parseFields(lines.join("\n"));
}

// Faults that Ollama's users can resolve, recognised by their messages.

const NO_MODEL = /has no model/;
const TOO_LONG = /longer than the context length/i;
const NOBODY = /nothing listens/;

/** Adds advice to a fault of Ollama; any other error is returned unchanged. */
export function ollamaFault(error: unknown, model: string): unknown {
  if (!(error instanceof Fault)) return error;
  if (error.code === "notFound" && NO_MODEL.test(error.message)) {
    return new Fault(
      "notFound",
      `Cannot use model ${
        JSON.stringify(model)
      }: Ollama does not have it; run \`ollama pull ${model}\``,
      { cause: error },
    );
  }
  if (error.code === "invalidInput" && TOO_LONG.test(error.message)) {
    return new Fault("contextOverflow", error.message, { cause: error });
  }
  if (error.code === "upstream" && NOBODY.test(error.message)) {
    const { code, message, detail } = error;
    return new Fault(code, `${message} Start it with \`ollama serve\``, {
      cause: error,
      ...(detail === undefined ? {} : { detail }),
    });
  }
  return error;
}

/** The fault for an answer that is not in Ollama's format; `torn`: a retry may succeed. */
export function malformed(why: string, cause?: unknown, torn = false): Fault {
  return new Fault("upstream", `Cannot infer: Ollama's answer ${why}`, {
    cause,
    ...(torn ? { detail: again() } : {}),
  });
}
