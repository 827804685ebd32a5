/** The text plugin as it is built, over files that a test makes up. */
import {
  compiledModule,
  type Envelope,
  type FileBytes,
  hostOfFiles,
  runModule,
} from "../../build/_fixture/run_module.ts";

const module = await compiledModule("tools-wasm/text");
const encoder = new TextEncoder();

/** Calls a tool in a new instance that sees `files`. */
export async function callText(
  op: string,
  args: Readonly<Record<string, unknown>>,
  files: Readonly<Record<string, Uint8Array | string>> = {},
): Promise<Envelope & { readonly readBytes: number }> {
  const bytes = Object.entries(files).map(([path, content]): [string, Uint8Array] => [
    path,
    typeof content === "string" ? encoder.encode(content) : content,
  ]);
  const { host, read } = hostOfFiles(Object.fromEntries(bytes));
  const envelope = await (await runModule(module, host)).call(op, args);
  return { ...envelope, readBytes: read.bytes };
}

/** The value of a call; throws its fault when there is none. */
export async function valueOf(
  op: string,
  args: Readonly<Record<string, unknown>>,
  files: Readonly<Record<string, Uint8Array | string>> = {},
  // deno-lint-ignore no-explicit-any -- tests inspect it with assertions
): Promise<any> {
  const { ok, value, error } = await callText(op, args, files);
  if (!ok) throw new Error(`${error?.code}: ${error?.message}`);
  return value;
}

/** One instance for many calls, as property tests make them. */
export async function textInstance(): Promise<
  (op: string, args: Readonly<Record<string, unknown>>, file?: FileBytes) => Promise<Envelope>
> {
  const files: Record<string, FileBytes> = {};
  const instance = await runModule(module, (call) => hostOfFiles(files).host(call));
  return (op, args, file) => {
    if (file !== undefined) files["desk/file"] = file;
    return instance.call(op, file === undefined ? args : { ...args, path: "desk/file" });
  };
}
