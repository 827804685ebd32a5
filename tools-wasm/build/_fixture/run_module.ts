/** Runs AssemblyScript plugins under Extism in the test's own process, over files that the test makes up. */
import { type CallContext, createPlugin } from "@extism/extism";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { sha256Hex } from "../../../port/digest.ts";
import { compileAssembly } from "../assembly_powers.ts";

const HOME = new URL("../../../", import.meta.url).pathname;
const KIT = join(HOME, "tools-wasm/sdk/as/assembly");

type Args = Readonly<Record<string, unknown>>;

/** The outcome of a call. */
export interface Envelope {
  readonly ok: boolean;
  // deno-lint-ignore no-explicit-any -- tests inspect it with assertions
  readonly value?: any;
  readonly error?: { readonly code: string; readonly message: string };
}

/** The host's side: answers one host call with an envelope. */
export type HostCall = (call: { readonly fn: string; readonly args: Args }) => unknown;

/** One instance. */
export interface RunningModule {
  call(op: string, args: Args): Promise<Envelope>;
  /** The answer to bytes that may be no valid call. */
  raw(input: string | Uint8Array): Promise<string>;
}

function filesUnder(folder: string): readonly string[] {
  return [...Deno.readDirSync(folder)].flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory ? filesUnder(path) : entry.name.endsWith(".ts") ? [path] : [];
  }).sort();
}

/** Compiles `entry` of a folder of the repository, once for its sources: compiling takes seconds. */
export async function compiledModule(
  folder: string,
  { entry = "assembly/index.ts", memoryPages = 1024 } = {},
): Promise<WebAssembly.Module> {
  const sources = [join(HOME, folder), KIT].flatMap(filesUnder);
  const compiler = join(HOME, "tools-wasm/build/assembly_powers.ts");
  const parts = [...sources, compiler].flatMap((path) => [path, Deno.readTextFileSync(path)]);
  const name = `${sha256Hex(...parts, entry, String(memoryPages)).slice(0, 32)}.wasm`;
  const place = join(HOME, ".build/modules");
  Deno.mkdirSync(place, { recursive: true });
  try {
    return await WebAssembly.compile(Deno.readFileSync(join(place, name)));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const code = await compileAssembly({ folder: join(HOME, folder), kit: KIT, memoryPages, entry });
  const draft = Deno.makeTempFileSync({ dir: place });
  Deno.writeFileSync(draft, code);
  Deno.renameSync(draft, join(place, name));
  return await WebAssembly.compile(Deno.readFileSync(join(place, name)));
}

/** Makes an instance whose host calls `host` answers. */
export async function runModule(
  module: WebAssembly.Module,
  host: HostCall,
): Promise<RunningModule> {
  let memory: WebAssembly.Memory | undefined;
  let given = new Uint8Array();
  const view = (at: number, bytes?: number): Uint8Array =>
    new Uint8Array(memory?.buffer ?? new ArrayBuffer(0), at, bytes);
  const bytesOf = (context: CallContext, block: bigint): Uint8Array =>
    context.read(block)?.bytes() ?? new Uint8Array();
  const plugin = await createPlugin({ wasm: [{ module }] }, {
    functions: {
      "extism:host/user": {
        host_call: (context: CallContext, at: bigint) =>
          context.store(JSON.stringify(host(JSON.parse(context.read(at)?.text() ?? "null")))),
        input_read: (_context: CallContext, to: number) => view(to).set(given),
        block_read: (context: CallContext, block: bigint, to: number) =>
          view(to).set(bytesOf(context, block)),
        block_write: (context: CallContext, block: bigint, from: number, bytes: number) =>
          bytesOf(context, block).set(view(from, bytes)),
      },
    },
  });
  const exported = (await plugin.getInstance()).exports["memory"];
  if (exported instanceof WebAssembly.Memory) memory = exported;
  const raw = async (input: string | Uint8Array): Promise<string> => {
    given = typeof input === "string" ? new TextEncoder().encode(input) : new Uint8Array(input);
    return (await plugin.call("run", input))?.text() ?? "";
  };
  return {
    raw,
    call: async (op, args) => JSON.parse(await raw(JSON.stringify({ v: 1, op, args }))),
  };
}

/** A test's file: bytes, or an object that simulates them. */
export interface FileBytes {
  readonly length: number;
  subarray(from: number, to: number): Uint8Array;
}

/** A host that has only these files, and reports how much was read. */
export function hostOfFiles(files: Readonly<Record<string, FileBytes>>): {
  readonly host: HostCall;
  readonly read: { calls: number; bytes: number };
} {
  const read = { calls: 0, bytes: 0 };
  const host: HostCall = ({ fn, args }) => {
    const file = files[String(args["path"])];
    if (fn !== "fs.read" || args["encoding"] !== "base64" || file === undefined) {
      return { ok: false, error: { code: "notFound", message: `Cannot read ${args["path"]}` } };
    }
    const from = Number(args["from"] ?? 0);
    const part = file.subarray(from, from + Number(args["bytes"]));
    read.calls++;
    read.bytes += part.length;
    const next = from + part.length;
    const base64 = Buffer.from(part).toString("base64");
    return { ok: true, value: { base64, bytes: file.length, next, end: next >= file.length } };
  };
  return { host, read };
}
