/** Loads llama.cpp's addon: needs `ffi` and `read` of its file, in a process of its own. @module */
import { createRequire } from "node:module";
import { Fault } from "../../contracts/base/fault.ts";
import type { EngineFile } from "../local/engine.ts";
import type { Gpu } from "../../contracts/model/model_config.ts";
import { type Addon, hasCard, missingGpu } from "./addon.ts";

/** What the native engine is handed. */
export interface NativePowers {
  /**
   * The addon, ready; `complain` hears llama.cpp's errors. Rejects with `unavailable`, also for a build
   * for a graphics card where there is none.
   */
  load(
    path: string,
    options: { readonly gpu: Gpu | undefined; complain(why: string): void },
  ): Promise<Addon>;
  /** A file, for its header. Throws `notFound`. */
  open(path: string): EngineFile & Disposable;
}

/** ggml's level of errors; lower ones are news. */
const ERRORS = 2;

/** The real powers. */
export const nativePowers: NativePowers = Object.freeze<NativePowers>({
  async load(
    path: string,
    { gpu, complain }: { readonly gpu: Gpu | undefined; complain(why: string): void },
  ): Promise<Addon> {
    let addon: Addon;
    try {
      // TRUST: a pinned file of a pinned package, verified before it was bound into the namespace.
      addon = createRequire("file:///")(path) as Addon;
    } catch (cause) {
      const why = cause instanceof Error ? cause.message.slice(0, 300) : "it does not load";
      if (gpu !== undefined) throw missingGpu(gpu, why, { cause });
      throw new Fault("unavailable", `Cannot start the accelerated engine: ${why}`, { cause });
    }
    addon.markLoaded();
    addon.setLogger((level, message) => {
      if (level <= ERRORS) complain(message.trim());
    });
    addon.setLoggerLogLevel(ERRORS);
    addon.loadBackends();
    // The arithmetic for this very processor lies beside the addon.
    const folder = path.slice(0, path.lastIndexOf("/"));
    addon.loadBackends(folder);
    // The same for CUDA 12, where that of CUDA 13 found no libraries to load.
    if (gpu === "cuda" && !hasCard(addon)) addon.loadBackends(`${folder}/fallback`);
    if (gpu !== undefined && !hasCard(addon)) throw missingGpu(gpu, "no card is found");
    await addon.init();
    return addon;
  },
  open(path: string): EngineFile & Disposable {
    let file: Deno.FsFile;
    try {
      file = Deno.openSync(path);
    } catch (cause) {
      throw new Fault("notFound", "Cannot open the weights: the file is not there", { cause });
    }
    return Object.freeze({
      length: file.statSync().size,
      read(at: number, length: number): Uint8Array<ArrayBuffer> {
        const bytes = new Uint8Array(length);
        file.seekSync(at, Deno.SeekMode.Start);
        let done = 0;
        while (done < length) {
          const more = file.readSync(bytes.subarray(done));
          if (more === null) break;
          done += more;
        }
        return bytes.subarray(0, done);
      },
      [Symbol.dispose]: () => file.close(),
    });
  },
});
