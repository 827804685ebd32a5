/**
 * Starts the process that parses one document: no permissions, limited memory and time. docs/decision/0014.
 * Used by parser_powers.ts and programs_powers.ts.
 * @module
 */
import { CHILD_FLAGS, Fault } from "../../../contracts/base/mod.ts";
import { WIDE_FRAME_BYTES } from "../../../contracts/wire/wire_plugin.ts";
import { makePort, type Port } from "../../../port/mod.ts";
import type { findPrograms } from "../../../launch/program/programs_powers.ts";

export interface ParserProcess {
  readonly port: Port;
  /** Resolves when the process has ended, with the way: `out of memory`, `with code 1`, `by SIGKILL`. */
  readonly ended: Promise<string>;
  kill(): void;
}

/** The programs that start it, where installed. */
export type Programs = Pick<
  Awaited<ReturnType<typeof findPrograms>>,
  "deno" | "setpriv" | "prlimit"
>;

const MiB = 1024 * 1024;
const STDERR_BYTES = 4_096;
/** MiB of V8's heap. */
const HEAP_MIB = 256;
/** Pages of 64 KiB: no parser needs WebAssembly; the PDF library includes some for images. */
export const PARSER_PAGES = 256;
/** MiB of data. V8 reserves about 545 of them without use, so some 450 are left for the heap and native memory. */
const DATA_MIB = 1_000;
/** Seconds of processor time: ends a spinning process even if its parent is gone. */
const CPU_SECONDS = 90;
const DENIED = ["read", "write", "net", "env", "run", "sys", "ffi", "import"];

/** Starts a parser, which knows nothing of earlier documents. */
export function startParser(
  program: { readonly bundle: string; readonly denoDir: string },
  { deno, setpriv, prlimit }: Programs,
): ParserProcess {
  const [first = deno, ...args] = [
    // Ends it with this process, even while it spins.
    ...(setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"]),
    ...(prlimit === undefined ? [] : [
      prlimit,
      ...["--core=0", "--nofile=64", "--fsize=67108864", `--cpu=${CPU_SECONDS}`],
      ...[`--data=${DATA_MIB * MiB}`, "--"],
    ]),
    ...[deno, "run", ...CHILD_FLAGS, ...DENIED.map((right) => `--deny-${right}`)],
    `--v8-flags=--max-old-space-size=${HEAP_MIB},--wasm-max-mem-pages=${PARSER_PAGES}`,
    program.bundle,
  ];
  const child = new Deno.Command(first, {
    args,
    cwd: "/",
    clearEnv: true,
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", DENO_DIR: program.denoDir },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  const port = makePort({
    // The end of its output reports an ended process.
    write: (bytes) => void writer.write(bytes.slice()).catch(() => undefined),
    limits: { frameBytes: WIDE_FRAME_BYTES },
    now: () => performance.now(),
    handler: {
      ask: () => Promise.reject(new Fault("refused", "Cannot serve: a parser asks nothing")),
      tell: () => undefined,
    },
  });
  const heard = hear(child.stderr);
  const kill = (): void => {
    port.close("the document is done with");
    try {
      child.kill("SIGKILL");
    } catch (error) {
      // It ended by itself.
      if (!(error instanceof TypeError)) throw error;
    }
  };
  const ended = (async (): Promise<string> => {
    // A broken pipe is the end of the output.
    await pump(child.stdout, port).catch(() => undefined);
    const [{ code, signal }, said] = await Promise.all([child.status, heard]);
    if (/out of memory|virtual memory|allocation failed/i.test(said)) return "out of memory";
    return signal === null ? `with code ${code}` : `by ${signal}`;
  })();
  return Object.freeze({ port, ended, kill });
}

async function pump(stream: ReadableStream<Uint8Array>, port: Port): Promise<void> {
  try {
    for await (const chunk of stream) port.feed(chunk);
  } finally {
    port.close("the parser has ended");
  }
}

/** The tail of standard error; only searched for a word, never shown. */
async function hear(stream: ReadableStream<Uint8Array>): Promise<string> {
  let said = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) said = (said + decoder.decode(chunk)).slice(-STDERR_BYTES);
  return said;
}
