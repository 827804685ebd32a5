/** The tools of the plugin sample, by their names in tool.yaml. @module */
import type { Tools } from "../../../ts/remit.ts";

/** Runs in QuickJS inside WASM: network, files and clock only through `remit`. */
export const tools: Tools = {
  sample_words: async ({ path }: { readonly path: string }, remit) => {
    const file = await remit.fs.read({ path });
    const text = file.text ?? "";
    await remit.log(`read ${file.bytes} bytes`);
    return {
      words: text.split(/\s+/).filter((word) => word !== "").length,
      lines: text === "" ? 0 : text.replace(/\n$/, "").split("\n").length,
      characters: [...text].length,
    };
  },
};
