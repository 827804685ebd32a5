/**
 * Serves one call of a small plugin before the first byte is read, so that a pooled host answers
 * its first real call with compiled code.
 * @module
 */
import type { Port } from "../../contracts/base/port.ts";
import { makePort } from "../../port/mod.ts";
import { makePluginHost, type PluginHostPowers } from "./host.ts";

/** `_fixture/warm.wat`, assembled (test: "the plugin that warms …"). */
export const WARM_PLUGIN =
  "AGFzbQEAAAABFARgAX4BfmACfn4AYAF/AX5gAAF/Am8ED2V4dGlzbTpob3N0L2VudgVhbGxvYwAAD2V4dGlzbTpo" +
  "b3N0L2VudglzdG9yZV91NjQAAQ9leHRpc206aG9zdC9lbnYKb3V0cHV0X3NldAABEGV4dGlzbTpob3N0L3VzZXIJ" +
  "aG9zdF9jYWxsAAADAwICAwUEAQEBAQcQAgZtZW1vcnkCAANydW4ABQwBAQpPAjkBAX5CIBAAIQEgASAAKQMAEAEg" +
  "AUIIfCAAKQMIEAEgAUIQfCAAKQMQEAEgAUIYfCAAKQMYEAEgAQsTAEEAEAQQAxpBIBAEQhgQAkEACwtGAQBBAAtA" +
  "eyJmbiI6ImZzLnJlYWQiLCJhcmdzIjp7fX0gICAgICB7Im9rIjp0cnVlLCJ2YWx1ZSI6bnVsbH0gICAgICAgIA==";

/** Loads the plugin into a separate host and calls it over a port. */
export async function warm(powers: PluginHostPowers): Promise<void> {
  const code = WARM_PLUGIN;
  const host: Port = makePort({
    write: (bytes) => kernel.feed(bytes),
    handler: makePluginHost({ ask: (op, body) => host.ask(op, body) }, powers),
    trusted: true,
  });
  const kernel: Port = makePort({
    write: (bytes) => host.feed(bytes),
    handler: { ask: () => ({}), tell: () => undefined },
  });
  await kernel.ask("load", {
    plugin: "warm",
    engine: "wasm",
    sha256: await powers.sha256(Uint8Array.fromBase64(code)),
    code,
    memoryPages: 1,
    hostFunctions: ["fs.read"],
  });
  await kernel.ask("call", { id: "warm", plugin: "warm", tool: "warm", args: {}, bytes: 100 });
  kernel.close("warm");
  host.close("warm");
}
