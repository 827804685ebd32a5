import { equal, ok } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { buildEngine } from "./build.ts";

const engine = await buildEngine();
const SPINNER = fileURLToPath(new URL("_fixture/spinner.ts", import.meta.url));
const CONFIG = fileURLToPath(new URL("../../deno.json", import.meta.url));

/** Starts `code` in a process without permissions and returns once it has begun. */
async function begin(code: string) {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--no-lock",
      "--cached-only",
      "--config",
      CONFIG,
      SPINNER,
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const text = new TextEncoder().encode(`await remit.progress("on");\n${code}`);
  const writer = child.stdin.getWriter();
  await writer.write(new Uint8Array(Uint32Array.of(text.length).buffer));
  await writer.write(text);
  await writer.write(engine);
  await writer.close();
  const reader = child.stdout.getReader();
  let said = "";
  while (!said.includes("begun\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`it ended: ${said}`);
    said += new TextDecoder().decode(value);
  }
  return { child, reader };
}

const BOMBS = {
  "a loop": "for (;;);",
  "a regular expression": "/^(a+)+$/.test('a'.repeat(60) + 'b')",
  "a comparator":
    "const a = Array.from({ length: 1e6 }, (_, i) => i); for (;;) a.sort(() => { for (let i = 0; i < 1e6; i++); return 1 })",
  "jobs that make jobs": "const again = () => Promise.resolve().then(again); again()",
  "timers that make timers":
    "const again = () => setTimeout(again); again(); await new Promise(() => {})",
  "a getter in the result": "({ get a() { for (;;); } })",
  "an endless list": "new Proxy([], { get: (_, key) => key === 'length' ? 2 ** 32 : undefined })",
};

for (const [name, code] of Object.entries(BOMBS)) {
  Deno.test(`mallory's program outruns its deadline with ${name}, and SIGKILL ends it`, async () => {
    const { child, reader } = await begin(code);
    const read = reader.read();
    // The deadline that the kernel would have set: it must pass without an answer.
    const { promise: deadline, resolve } = Promise.withResolvers<"overrun">();
    // TIMER: what is tested is that this much time passes without an answer.
    const timer = setTimeout(resolve, 300, "overrun");
    equal(await Promise.race([read, deadline]), "overrun");
    clearTimeout(timer);
    child.kill("SIGKILL");
    // INVARIANT: nothing in the engine can hold on to the process: else this waits for ever.
    const { signal } = await child.status;
    equal(signal, "SIGKILL");
    ok((await read).done, "it never answered");
  });
}
