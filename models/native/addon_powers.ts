/** Loads llama.cpp's addon, in a process of its own with permission for `ffi` and `read` of that file. @module */
import { createRequire } from "node:module";
import { Fault } from "../../contracts/base/fault.ts";
import type { EngineFile } from "../local/engine.ts";
import type { Gpu } from "../../contracts/model/model_config.ts";
import { type Addon, hasCard, missingGpu } from "./addon.ts";

/** Powers of the native engine. */
export interface NativePowers {
  /**
   * Loads and initialises the addon; llama.cpp's errors go to `complain`. Rejects with `unavailable`, also
   * for a GPU build without a GPU.
   */
  load(
    path: string,
    options: { readonly gpu: Gpu | undefined; complain(why: string): void },
  ): Promise<Addon>;
  /** Opens a file to parse its header. Throws `notFound`. */
  open(path: string): EngineFile & Disposable;
}

/** ggml's log level for errors. */
const ERROR_LEVEL = 2;

/** The powers of this process. */
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
      if (level <= ERROR_LEVEL) complain(message.trim());
    });
    addon.setLoggerLogLevel(ERROR_LEVEL);
    addon.loadBackends();
    // The backends for this processor lie beside the addon.
    const folder = path.slice(0, path.lastIndexOf("/"));
    addon.loadBackends(folder);
    // The CUDA 12 build, for machines without the libraries of CUDA 13.
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
