/** Runs one step of a fetch within its walls, and ends it when it takes too long or too much. @module */
import { Fault } from "../../../contracts/mod.ts";
import { fetchLine, trusting } from "./step_line.ts";
import type { FetchStep, FetchStepEnd } from "./hands.ts";
import { treeFiles } from "./tree_powers.ts";
import { findPrograms } from "../../program/programs_powers.ts";

const OUT_BYTES = 8_000_000;
const SAID_BYTES = 65_536;
const LOOK_MS = 500;

/** See `McpStoreHands.step`. */
export async function runStep(step: FetchStep): Promise<FetchStepEnd> {
  const { bwrap, prlimit } = await findPrograms();
  if (bwrap === undefined) {
    throw new Fault(
      "unavailable",
      "Cannot fetch: this machine has no bubblewrap that works, and servers are fetched and run in it alone",
    );
  }
  const authority = ["DENO_CERT", "NODE_EXTRA_CA_CERTS"].map((name) => Deno.env.get(name))
    .find((path) => path !== undefined && path !== "");
  const { program, args } = fetchLine(
    trusting(step, authority === undefined ? undefined : Deno.realPathSync(authority)),
    { bwrap, prlimit },
  );
  const child = new Deno.Command(program, {
    args: [...args],
    clearEnv: true,
    cwd: "/",
    stdin: step.input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let fault: Fault | undefined;
  const stop = (why: Fault): void => {
    fault ??= why;
    try {
      child.kill("SIGKILL");
    } catch (error) {
      // It has ended by itself.
      if (!(error instanceof TypeError)) throw error;
    }
  };
  const late = setTimeout(
    () => stop(new Fault("timedOut", `Cannot fetch: it took longer than ${step.deadlineMs} ms`)),
    step.deadlineMs,
  );
  const { writes } = step;
  const look = writes === undefined ? undefined : setInterval(() => {
    try {
      treeFiles(writes.from);
    } catch (error) {
      // A file that went while it was counted is no reason to stop.
      if (error instanceof Fault) stop(error);
    }
  }, LOOK_MS);
  try {
    if (step.input !== undefined) {
      const input = child.stdin.getWriter();
      await input.write(new TextEncoder().encode(step.input)).catch(() => undefined);
      await input.close().catch(() => undefined);
    }
    const [out, said, { code }] = await Promise.all([
      taken(child.stdout, OUT_BYTES),
      taken(child.stderr, SAID_BYTES),
      child.status,
    ]);
    if (fault !== undefined) throw fault;
    return { code, out, said };
  } finally {
    clearTimeout(late);
    clearInterval(look);
  }
}

/** The beginning of a stream; the rest is read and thrown away. */
async function taken(stream: ReadableStream<Uint8Array>, most: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    if (text.length < most) text += decoder.decode(chunk, { stream: true });
  }
  return text.slice(0, most);
}
