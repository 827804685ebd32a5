/**
 * Lends the engine's package the globals it needs, while it starts. Evaluated before the prelude of the
 * process, which removes them. Used by engine_powers.ts.
 * @module
 */

/** Saved before the prelude runs. As descriptors: reading a value makes Deno load it. */
const kept = ["Blob", "Worker"].map((name) =>
  [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const
);

/**
 * Prepended to the engine's program: with Node's globals it would assume Node. Its errors come as messages,
 * so the console of this process need not repeat them.
 */
const BEFORE = "delete globalThis.process;delete globalThis.require;console.error=()=>{};";

/** The globals of the engine, lent until disposed. */
export interface Lent extends Disposable {
  /** A URL of bytes for the engine's thread. */
  url(bytes: Uint8Array<ArrayBuffer>, type: string): string;
}

/** Lends the globals. The engine's thread starts before they are taken back, and has globals of its own. */
export function lendGlobals(): Lent {
  const before = ["Blob", "Worker", "document"].map((name) =>
    [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const
  );
  for (const [name, descriptor] of kept) {
    if (descriptor !== undefined) Object.defineProperty(globalThis, name, descriptor);
  }
  const RealBlob = globalThis.Blob;
  const urls: string[] = [];
  const create = URL.createObjectURL;
  const makeUrl = (blob: Blob): string => {
    const url = create.call(URL, blob);
    urls.push(url);
    return url;
  };
  URL.createObjectURL = (blob) => {
    if (!(blob instanceof RealBlob)) throw new TypeError("Cannot make a URL: not of a Blob");
    const { type } = blob;
    return makeUrl(type === "text/javascript" ? new RealBlob([BEFORE, blob], { type }) : blob);
  };
  Object.defineProperty(globalThis, "document", {
    value: { baseURI: "blob:null/engine" },
    configurable: true,
  });
  return {
    url: (bytes, type) => makeUrl(new RealBlob([bytes], { type })),
    [Symbol.dispose]() {
      URL.createObjectURL = create;
      for (const [name, descriptor] of before) {
        if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
        else Object.defineProperty(globalThis, name, descriptor);
      }
      for (const url of urls) URL.revokeObjectURL(url);
    },
  };
}
