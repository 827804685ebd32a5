/**
 * Entry of the accelerated models' process: runs llama.cpp's addon on one file of weights, in a namespace
 * without network. Bundled as native.js.
 * @module
 */
import "../../port/prelude_powers.ts";
import { serveChild } from "../../port/child_powers.ts";
import { makeModelService } from "../service.ts";

const stops: (() => Promise<void>)[] = [];

await serveChild((port) => {
  const { ask, tell } = makeModelService(port, {
    gguf: async () => {
      const [{ openNative }, { nativePowers }] = await Promise.all([
        import("./open.ts"),
        import("./addon_powers.ts"),
      ]);
      return (open) => openNative(open, nativePowers, (stop) => void stops.push(stop));
    },
    "gguf-embed": async () => {
      const [{ openNativeEmbedder }, { nativePowers }] = await Promise.all([
        import("./open.ts"),
        import("./addon_powers.ts"),
      ]);
      return (open) => openNativeEmbedder(open, nativePowers);
    },
  });
  const ended = async (): Promise<void> => void await Promise.all(stops.map((stop) => stop()));
  return { ask, tell, ended };
});
