/** A model reference becomes what the kernel starts a backend with. @module */
import { Fault, type ModelEntry, type TaskRequest } from "../contracts/mod.ts";
import { type Around, type DiskRead } from "./hands.ts";
import { absolute } from "./places.ts";

const LARGEST = 1_000_000;
const LATER = ["anthropic", "openai", "ollama", "llama", "gguf", "local"];

/**
 * Resolves `KIND:REFERENCE`, or an alias of remit.yaml's `models`.
 *
 * @throws Fault `invalidInput` without a kind, `notFound` without the file, `unavailable` for a
 * kind that this version has not.
 */
export function resolveModel(
  ref: string,
  aliases: Readonly<Record<string, ModelEntry>>,
  parts: { readonly around: Pick<Around, "cwd" | "env">; readonly disk: Pick<DiskRead, "read"> },
): TaskRequest["model"] {
  const entry = Object.entries(aliases).find(([name]) => name === ref)?.[1] ?? ref;
  const named = typeof entry === "string" ? entry : entry.ref;
  const colon = named.indexOf(":");
  const kind = named.slice(0, Math.max(0, colon));
  const rest = named.slice(colon + 1);
  if (kind === "" || rest === "") {
    throw new Fault(
      "invalidInput",
      `Cannot use model "${ref}": write KIND:REFERENCE, such as scripted:FILE`,
    );
  }
  if (kind !== "scripted") {
    const why = LATER.includes(kind)
      ? "this backend comes in a later version"
      : "there is no such kind";
    throw new Fault("unavailable", `Cannot use model "${ref}": ${why}; there is scripted:FILE`);
  }
  const path = absolute(parts.around, rest);
  const bytes = parts.disk.read(path);
  if (bytes === undefined) {
    throw new Fault("notFound", `Cannot use model "${ref}": there is no file "${path}"`);
  }
  if (bytes.length > LARGEST) {
    throw new Fault("tooLarge", `Cannot use model "${ref}": longer than ${LARGEST} bytes`);
  }
  const text = new TextDecoder().decode(bytes);
  return { ref: named, config: JSON.stringify({ file: rest, text }) };
}
