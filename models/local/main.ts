/** The local models' process: no rights, weights over the port. Bundled as model_local.js. @module */
import "./engine_globals_powers.ts";
import "../../port/prelude_powers.ts";
import { serveChild } from "../../port/child_powers.ts";
import { WIDE_FRAME_BYTES } from "../../contracts/wire/wire_plugin.ts";
import { makeModelService } from "../service.ts";
import type { LocalPowers } from "./open.ts";

/** Exit code of a process whose engine is beyond use: the next task gets a fresh one. */
const ENGINE_ENDED = 1;

async function powers(): Promise<LocalPowers> {
  const { startEngine } = await import("./engine_powers.ts");
  // After the fault has gone out with the next turn of the loop.
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
