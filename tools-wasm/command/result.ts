/** What a run came to, as text for a model and as a value for programs. @module */
import type { Json, JsonObject } from "../../contracts/json.ts";

/** The value of a run. */
export interface CommandValue {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly cut: boolean;
}

/** The value of the sandbox's plugin, which the plugin's schema has shaped. */
export function valueOf(value: Json | undefined): CommandValue | undefined {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
  const { exit, stdout, stderr, cut } = value as JsonObject;
  if (typeof exit !== "number" || typeof stdout !== "string") return undefined;
  if (typeof stderr !== "string" || typeof cut !== "boolean") return undefined;
  return { exit, stdout, stderr, cut };
}

/** What was printed, then what a shell would show besides; `notes` come last, a line each. */
export function contentOf(value: CommandValue, notes: readonly string[] = []): string {
  const { exit, stdout, stderr, cut } = value;
  return [
    stdout,
    ...(stderr === "" ? [] : [`[stderr]\n${stderr}`]),
    ...(cut
      ? [
        "[cut: of the output its beginning and its end are shown; ask for less, or for more bytes and lines]",
      ]
      : []),
    ...(exit === 0 ? [] : [`[exit ${exit}]`]),
    ...notes,
  ].filter((part) => part !== "").map((part) => part.endsWith("\n") ? part : `${part}\n`).join("");
}
