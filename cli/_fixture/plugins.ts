/** The real plugin kit: builder, load gate, adapter and host. Only Remit's own plugins are made up. @module */
import { join } from "node:path";
import { ToolName } from "../../contracts/authority/mod.ts";
import { PluginManifest } from "../../contracts/tool/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { parseToolYaml, provideTools, runBuild } from "../../tools-wasm/build/mod.ts";
import { gateFindings } from "../../tools-wasm/host/load_gate.ts";
import { readShape } from "../../tools-wasm/host/module_shape.ts";
import { makePluginKit } from "../../tools-wasm/kit/kit_powers.ts";
import { makePaint } from "../terminal/paint.ts";
import type { OwnTool, PluginKit } from "../../tools-wasm/kit/kit.ts";

const cacheHome = (): string =>
  join(Deno.env.get("XDG_CACHE_HOME") ?? join(Deno.env.get("HOME") ?? "/tmp", ".cache"), "remit");

/** A plugin of one tool as if it were Remit's own, for names that are taken. */
export const OWN = PluginManifest.parse({
  name: "own",
  version: "1.0.0",
  licence: "MIT",
  engine: "script",
  sha256: sha256Hex(""),
  tools: [{ name: "own_tool", description: "Remit's own", parameters: { type: "object" } }],
  memoryPages: 64,
});

/** A tool of Remit's own that is no plugin's. */
const OWN_TOOL: OwnTool = {
  descriptor: {
    name: ToolName.parse("file_read"),
    description: "Reads a file.",
    interfaceId: "Files",
    methodName: "read",
    paramSchema: JSON.stringify({
      type: "object",
      required: ["path"],
      properties: {
        path: { type: "string", maxLength: 9, description: "MOUNT/relative." },
        from: { type: "integer", minimum: 1, maximum: 5 },
        how: { enum: ["a", "b"] },
        words: { type: "array", items: { type: "string" } },
      },
    }),
    permission: "auto",
    category: "read",
  },
  effect: "read",
  group: "files",
};

/** The kit as main.ts wires it. With `own`, Remit's plugins are only {@link OWN}, and nothing is built. */
export function realPlugins(home: string, options: { readonly own?: boolean } = {}): PluginKit {
  return makePluginKit({
    provideTools: options.own === false ? provideTools : () =>
      Promise.resolve({
        engine: { sha256: sha256Hex(""), file: "/nowhere" },
        plugins: [{ manifest: OWN, file: "/nowhere" }],
      }),
    runBuild,
    readToolYaml: (text, name) => Promise.resolve(parseToolYaml(text, name)),
    look: readShape,
    judge: (module, rule) => gateFindings(readShape(module), rule),
    reserved: ["file_read"],
    ownTools: () => Promise.resolve([OWN_TOOL]),
  }, {
    home,
    cache: cacheHome,
    screen: { say: () => undefined, hint: () => undefined, paint: makePaint(false) },
  });
}
