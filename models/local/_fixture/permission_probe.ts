/** Prints the permissions of a process with the flags of a local model, and those of its thread. @module */
import "../engine_globals_powers.ts";
import "../../../port/prelude_powers.ts";
import { lendGlobals } from "../engine_globals_powers.ts";

/** Runs in the process and in a thread, so it uses no outer name. */
async function tries(): Promise<Record<string, string>> {
  const names = ["read", "write", "net", "env", "run", "sys", "ffi", "import"] as const;
  const found: Record<string, string> = {};
  for (const name of names) found[name] = Deno.permissions.querySync({ name }).state;
  const deeds: Record<string, () => unknown> = {
    readFile: () => Deno.readTextFileSync("/etc/hostname"),
    writeFile: () => Deno.writeTextFileSync("/tmp/remit-probe", "x"),
    connect: () => Deno.connect({ port: 9 }),
    fetch: () => fetch("http://127.0.0.1:8080/"),
    environment: () => Deno.env.get("HOME"),
    start: () => new Deno.Command("/bin/true").outputSync(),
    hostname: () => Deno.hostname(),
    load: () => import("data:text/javascript,export default 1".replace("data:", "file:///tmp/x?")),
  };
  for (const [name, deed] of Object.entries(deeds)) {
    try {
      await deed();
      found[name] = "done";
    } catch (error) {
      found[name] = error instanceof Error ? `${error.name}: ${error.message}` : "unknown";
    }
  }
  return found;
}

const inProcess = await tries();
using lent = lendGlobals();
const program = `${tries.toString()}; tries().then((found) => postMessage(found));`;
const code = new TextEncoder().encode(
  program.replace(/^async function \w+/, "async function tries"),
);
const thread = new Worker(lent.url(code, "text/javascript"), { type: "module" });
const inThread = await new Promise((resolve) => {
  thread.onmessage = ({ data }) => resolve(data);
});
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify({ inProcess, inThread })));
Deno.exit(0);
