/** Entry of the local models' process: no permissions, weights over the port. Bundled as model_local.js. @module */
import "./engine_globals_powers.ts";
import "../../port/prelude_powers.ts";
import { serveChild } from "../../port/child_powers.ts";
import { WIDE_FRAME_BYTES } from "../../contracts/wire/wire_plugin.ts";
import { makeModelService } from "../service.ts";
import type { LocalPowers } from "./open.ts";

/** Exit code when the engine is unusable: the next task gets a fresh process. */
const ENGINE_ENDED = 1;

async function powers(): Promise<LocalPowers> {
  const { startEngine } = await import("./engine_powers.ts");
  // Later, so that the fault leaves the process first.
  return { startEngine, onEngineEnd: () => void setTimeout(() => Deno.exit(ENGINE_ENDED), 50) };
}

await serveChild((port) =>
  makeModelService(port, {
    gguf: async () => {
      const [{ openGguf }, given] = await Promise.all([import("./open.ts"), powers()]);
      return (open, weights) => openGguf(open, weights, given);
    },
    "gguf-embed": async () => {
      const [{ openGgufEmbedder }, given] = await Promise.all([import("./open.ts"), powers()]);
      return (open, weights) => openGgufEmbedder(open, weights, given);
    },
  }), { frameBytes: WIDE_FRAME_BYTES });
