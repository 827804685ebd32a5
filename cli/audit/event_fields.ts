/** Reads fields of watched events, which may be missing. @module */
import type { Json } from "../../contracts/base/mod.ts";
import type { WatchEvent } from "../../contracts/task/mod.ts";

/** An event of a task's log. */
export interface SeenEvent {
  readonly n: number;
  readonly at: number;
  readonly event: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly private: Readonly<Record<string, unknown>>;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value));
}

/** What a watch delivers: an event, or progress between events. */
export type Seen =
  | { readonly kind: "event"; readonly event: SeenEvent }
  /** Progress of a call; `label`: that of what the call has read, as the kernel sent it. */
  | { readonly kind: "progress"; readonly text: string; readonly label: unknown }
  /** The model's thoughts grew by so many characters; their text is never sent. */
  | { readonly kind: "thinking"; readonly characters: number }
  /** A local model has read so many tokens of its request. */
  | { readonly kind: "reading"; readonly done: number; readonly total: number }
  /** `chunk`: text of the model's answer; `wire`: an exchange with a provider, as a line of a recording. */
  | { readonly kind: "chunk" | "wire"; readonly text: string };

/** Parses what a kernel sent; undefined for a kind that this version does not know. */
export function readSeen(told: Json): Seen | undefined {
  const { kind, text, label, exchange, n, at, event, body, private: inner } = record(
    told,
  ) as Partial<
    Record<keyof Extract<WatchEvent, { kind: "event" }> | "text" | "label" | "exchange", unknown>
  >;
  if (kind === "wire") {
    return typeof exchange === "string" ? { kind, text: exchange } : undefined;
  }
  if (kind === "progress") return { kind, text: typeof text === "string" ? text : "", label };
  if (kind === "reading") {
    const { done, total } = record(told);
    return typeof done === "number" && typeof total === "number"
      ? { kind, done, total }
      : undefined;
  }
  if (kind === "thinking") {
    const { characters } = record(told);
    return typeof characters === "number" ? { kind, characters } : undefined;
  }
  if (kind === "chunk") return { kind, text: typeof text === "string" ? text : "" };
  if (kind !== "event" || typeof event !== "string") return undefined;
  return {
    kind,
    event: {
      n: typeof n === "number" ? n : 0,
      at: typeof at === "number" ? at : 0,
      event,
      body: record(body),
      private: record(inner),
    },
  };
}

/** A text field of the private part, else of the body; "" when there is none. */
export function textOf(event: SeenEvent, name: string): string {
  for (const value of [event.private[name], event.body[name]]) {
    if (typeof value === "string") return value;
    if (typeof value === "number") return String(value);
  }
  return "";
}

/** A number field; 0 when there is none. */
export function numberOf(event: SeenEvent, name: string): number {
  const value = event.body[name] ?? event.private[name];
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** The arguments of a call as an object; empty when they are absent or no object. */
export function argumentsOf(event: SeenEvent): Readonly<Record<string, unknown>> {
  const given = event.private["arguments"] ?? event.private["args"];
  if (typeof given !== "string") return record(given);
  try {
    return record(JSON.parse(given));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

const SUBJECTS = [
  ...["path", "url", "patch", "name", "query", "pattern", "artifact", "file", "kind"],
];

/** The subject of a call in a few untrusted words: a path, an address. */
export function subjectOf(event: SeenEvent): string {
  const args = argumentsOf(event);
  for (const name of SUBJECTS) {
    const value = args[name];
    if (typeof value === "string" && value !== "") return value;
  }
  if (textOf(event, "tool") === "tools_declare") return declaredIn(args["tools"]);
  return textOf(event, "path") || textOf(event, "destination");
}

/** The tools that a task declares, each with its most calls. */
function declaredIn(tools: unknown): string {
  return (Array.isArray(tools) ? tools : []).map((each) => {
    const { tool, max } = record(each);
    return `${String(tool)} ×${String(max)}`;
  }).join(", ");
}
