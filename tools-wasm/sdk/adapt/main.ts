/**
 * Adapts one foreign module: `main.ts PAGES` reads it from standard input, and writes one line of
 * JSON (`{"stubs": […], "memory": {"least", "most"}}`) and the adapted module. The process has no
 * permissions: the bytes are hostile, and may take over the parser.
 *
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { readShape } from "../../host/module_shape.ts";
import { withMaxima } from "../../host/with_maxima.ts";
import { stubImports } from "./stub_imports.ts";

function writeAll(stream: typeof Deno.stdout, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += stream.writeSync(bytes.subarray(at));
}

const encoder = new TextEncoder();
const wasi = /^(wasi_|env$)/;
try {
  const chunks: BlobPart[] = [];
  for await (const chunk of Deno.stdin.readable) chunks.push(chunk);
  const module = new Uint8Array(await new Blob(chunks).arrayBuffer());
  const pages = Number(Deno.args[0]);
  const shape = readShape(module);
  const [memory] = shape.memories;
  if (memory === undefined) {
    throw new Fault("invalidInput", "Cannot adapt the module: it declares no memory of its own");
  }
  if (memory.least > pages) {
    throw new Fault(
      "tooLarge",
      `Cannot limit the module's memory to ${pages} pages of 64 KiB: it starts with ${memory.least}`,
    );
  }
  const { module: stubbed, stubs } = shape.imports.some((each) => wasi.test(each.module))
    ? stubImports(module)
    : { module, stubs: [] };
  const kept = memory.most !== undefined && memory.most <= pages;
  const bytes = new Uint8Array(stubbed);
  const adapted = withMaxima(bytes, readShape(bytes), kept ? 0 : pages);
  const report = { stubs, memory: { least: memory.least, most: memory.most ?? null } };
  writeAll(Deno.stdout, encoder.encode(`${JSON.stringify(report)}\n`));
  writeAll(Deno.stdout, adapted);
} catch (error) {
  // A broken parser may throw anything.
  const message = error instanceof Fault
    ? error.message
    : "Cannot read the module: it does not parse";
  writeAll(Deno.stderr, encoder.encode(message));
  Deno.exit(1);
}
