/**
 * Raw Extism in a process of its own, run with `-A` and `FILE INPUT`: for each line of standard input it
 * makes an instance of the module, calls it with the input, and writes the milliseconds as a line. Not
 * in the bench's process: instances leave 10 GB of address space each to its garbage collector, which
 * would then stop the calls that are measured beside them, as no kernel's ever does.
 * @module
 */
import { createPlugin, type Plugin } from "@extism/extism";

const [file = "", input = ""] = Deno.args;
const module = await WebAssembly.compile(await Deno.readFile(file));

async function call(): Promise<void> {
  const plugin: Plugin = await createPlugin(module, {
    runInWorker: false,
    functions: {
      "extism:host/user": {
        host_call: () => 0n,
        block_read: () => undefined,
        block_write: () => undefined,
        input_read: () => undefined,
      },
    },
  });
  await plugin.call("run", input);
  await plugin.close();
}

const say = (text: string): void => void Deno.stdout.writeSync(new TextEncoder().encode(text));
say("ready\n");
for (const line = new Uint8Array(16); Deno.stdin.readSync(line) !== null;) {
  const started = performance.now();
  await call();
  say(`${performance.now() - started}\n`);
}
Deno.exit(0);
