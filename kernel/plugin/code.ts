/** Plugins' code as the kernel hands it to plugin hosts: checked against its digest, read once. @module */
import { Fault, type PluginFile, type Port } from "../../contracts/mod.ts";
import { sha256Hex } from "../../port/digest.ts";

/** Reads a file whole; undefined when it is not there. */
export type ReadFile = (path: string) => Promise<Uint8Array | undefined>;

/** One plugin's code, or the engine's. */
export interface CodeFile {
  /** Absolute. */
  readonly file: string;
  readonly sha256: string;
  /** For the fault's words. */
  readonly name: string;
}

/** Code by digest. */
export interface PluginCode {
  /** The bytes in base64. Throws `refused` for other bytes than were pinned, `notFound`. */
  base64(code: CodeFile): Promise<string>;
  /** The bytes as UTF-8 text. Throws as `base64`, and `refused` for broken text. */
  text(code: CodeFile): Promise<string>;
}

/** Makes the reader of code. */
export function makePluginCode(read: ReadFile): PluginCode {
  const kept = new Map<string, Promise<string>>();

  const checked = async ({ file, sha256, name }: CodeFile): Promise<Uint8Array> => {
    const bytes = await read(file);
    if (bytes === undefined) {
      throw new Fault("notFound", `Cannot load plugin "${name}": its code is gone`);
    }
    if (sha256Hex(bytes) !== sha256) {
      throw new Fault(
        "refused",
        `Cannot load plugin "${name}": its code is not what was reviewed; ` +
          "look at it and run `remit tool add` again",
      );
    }
    return bytes;
  };
  const once = (key: string, make: () => Promise<string>): Promise<string> => {
    const before = kept.get(key);
    if (before !== undefined) return before;
    const made = make();
    kept.set(key, made);
    made.catch(() => kept.delete(key));
    return made;
  };

  return Object.freeze({
    base64: (code: CodeFile) =>
      once(`b ${code.sha256}`, async () => (await checked(code)).toBase64()),
    text: (code: CodeFile) =>
      once(`t ${code.sha256}`, async () => {
        const bytes = await checked(code);
        try {
          return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
        } catch (cause) {
          throw new Fault("refused", `Cannot load plugin "${code.name}": its script is no UTF-8`, {
            cause,
          });
        }
      }),
  });
}

/** The module that runs scripts, in whatever host needs it. */
export interface Engine {
  readonly sha256: string;
  /** Hands it to a plugin host, once. Rejects as {@link PluginCode.base64}, or as the host does. */
  load(host: { readonly port: Pick<Port, "ask"> }): Promise<void>;
}

/** Makes the engine's way into hosts; undefined when there is none. */
export function makeEngine(code: PluginCode, built: PluginFile | undefined): Engine | undefined {
  if (built === undefined) return undefined;
  const file: CodeFile = { ...built, name: "engine" };
  const loading = new WeakMap<object, Promise<void>>();
  const begin = async (port: Pick<Port, "ask">): Promise<void> => {
    await port.ask("engine", { sha256: file.sha256, code: await code.base64(file) });
  };
  return Object.freeze({
    sha256: file.sha256,
    load({ port }: { readonly port: Pick<Port, "ask"> }): Promise<void> {
      const before = loading.get(port);
      if (before !== undefined) return before;
      const made = begin(port);
      loading.set(port, made);
      made.catch(() => loading.delete(port));
      return made;
    },
  });
}
