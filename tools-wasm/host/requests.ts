/** What the kernel asks a plugin host. The kernel is trusted: only the shape is looked at. @module */
import { Fault } from "../../contracts/fault.ts";
import type { Json } from "../../contracts/json.ts";
import type {
  LoadEngineBody,
  LoadPluginBody,
  PluginCallBody,
  PluginCancel,
} from "../../contracts/wire_plugin.ts";

/** A request with its body, or an event. */
export type HostRequest =
  | { readonly op: "load"; readonly body: LoadPluginBody }
  | { readonly op: "engine"; readonly body: LoadEngineBody }
  | { readonly op: "call"; readonly body: PluginCallBody }
  | { readonly op: "cancel"; readonly body: PluginCancel }
  | { readonly op: "usage" };

const TEXTS: Readonly<Record<string, readonly string[]>> = {
  load: ["plugin", "engine", "sha256", "code"],
  engine: ["sha256", "code"],
  call: ["id", "plugin", "tool"],
  cancel: ["id"],
  usage: [],
};

/** Parses a request. @throws {Fault} `badFrame`. */
export function parseRequest(op: string, body: Json): HostRequest {
  const texts = Object.hasOwn(TEXTS, op) ? TEXTS[op] : undefined;
  if (texts === undefined) throw new Fault("badFrame", `Cannot serve "${op}": unknown`);
  for (const name of texts) {
    const value = typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined;
    if (typeof value !== "string") throw new Fault("badFrame", `Cannot serve "${op}": no ${name}`);
  }
  // TRUST: the kernel's, built from its own types.
  return { op, body } as unknown as HostRequest;
}
