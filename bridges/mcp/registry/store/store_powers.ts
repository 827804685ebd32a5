/** The powers of {@link McpStore}, with this process's own rights. Wired in cli/main.ts. @module */
import {
  fetchLine,
  type FetchStep,
  type FetchStepEnd,
  type FoundProgram,
  type FoundPython,
  type McpStore,
  TREE_BYTES,
  TREE_FILES,
  type TreeName,
  trusting,
} from "./store.ts";
import { createHash } from "node:crypto";
import { isAbsolute, join } from "node:path";
import { Fault } from "../../../../contracts/base/mod.ts";
import { McpTree } from "../../../../contracts/exchange/mod.ts";
import { findPrograms } from "../../../../launch/program/programs_powers.ts";
import * as z from "zod";

interface McpStoreParts {
  readonly digestTree: TreeDigester;
  /** Builds the bridge's programs. */
  ready(): Promise<void>;
}

/** Makes the store of imported servers' programs. */
export function makeMcpStore(parts: McpStoreParts): McpStore {
  return Object.freeze({
    exclusively,
    step: runStep,
    draft(trees: string): string {
      Deno.mkdirSync(trees, { recursive: true, mode: 0o700 });
      return Deno.makeTempDirSync({ dir: trees, prefix: ".new-" });
    },
    files: treeFiles,
    keep: (draft: string, to: TreeName) => keepTree(draft, to, parts.digestTree),
    drop: dropTree,
    changedAt,
    hashFile,
    find: findProgram,
    python: findPython,
    ready: parts.ready,
    deno: Deno.realPathSync(Deno.execPath()),
  });
}

function exclusively<T>(folder: string, work: () => T): T {
  using held = Deno.openSync(folder, { read: true });
  // The lock ends with the descriptor, however this process ends.
  held.lockSync(true);
  return work();
}

function changedAt(path: string): number | undefined {
  try {
    return Deno.lstatSync(path).mtime?.getTime();
  } catch (error) {
    if (missing(error)) return undefined;
    throw error;
  }
}

function hashFile(
  path: string,
  { max = Infinity }: { readonly max?: number } = {},
): string | undefined {
  try {
    // Reading a pipe waits for its writer; a device has no end.
    if (!Deno.statSync(path).isFile) return undefined;
    using file = Deno.openSync(path);
    const { size, mtime } = file.statSync();
    const hash = createHash("sha256"), piece = new Uint8Array(1_048_576);
    let left = Math.min(size, max);
    while (left > 0) {
      const n = file.readSync(piece.subarray(0, Math.min(piece.length, left)));
      if (n === null) break;
      hash.update(piece.subarray(0, n));
      left -= n;
    }
    if (size > max) hash.update(`\0${size} ${mtime?.getTime() ?? 0}`);
    return hash.digest("hex");
  } catch (error) {
    if (missing(error)) return undefined;
    throw error;
  }
}

/** Whether an error means that this process sees no such file. */
function missing(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory ||
    error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.IsADirectory ||
    // The name is too long for a file, or links form a circle.
    (error instanceof Error && "code" in error &&
      (error.code === "ENAMETOOLONG" || error.code === "ELOOP"));
}

function findProgram(program: string): FoundProgram | undefined {
  const folders = program.includes("/") ? [""] : (Deno.env.get("PATH") ?? "").split(":");
  for (const folder of folders) {
    const asked = join(folder, program);
    if (!isAbsolute(asked)) continue;
    try {
      const path = Deno.realPathSync(asked);
      const { isFile, mode } = Deno.statSync(path);
      const sha256 = isFile && ((mode ?? 0) & 0o111) !== 0 ? hashFile(path) : undefined;
      if (sha256 !== undefined) return { path, sha256 };
    } catch (error) {
      if (!missing(error)) throw error;
    }
  }
  return undefined;
}

/** A program by which a Python describes itself. */
const ABOUT = `import sys, sysconfig, json, importlib.util
real = sysconfig.get_paths()
print(json.dumps({
  "executable": sys.executable, "version": "%d.%d" % sys.version_info[:2],
  "folders": sorted({sys.prefix, sys.base_prefix}),
  "packages": sorted({real["purelib"], real["platlib"]}) if sys.prefix != sys.base_prefix else [],
  "pip": importlib.util.find_spec("pip") is not None,
}))`;
const About = z.object({
  executable: z.string().max(4_096),
  version: z.string().max(16),
  folders: z.array(z.string().max(4_096)).max(4),
  packages: z.array(z.string().max(4_096)).max(4),
  pip: z.boolean(),
});
const PYTHON_MS = 10_000;

async function findPython(program: string): Promise<FoundPython | undefined> {
  const asked = program.includes("/") ? program : findProgram(program)?.path;
  if (asked === undefined) return undefined;
  try {
    // `-I`: neither the working folder nor the environment adds code.
    const { success, stdout } = await new Deno.Command(asked, {
      args: ["-I", "-c", ABOUT],
      clearEnv: true,
      env: { PATH: Deno.env.get("PATH") ?? "", HOME: Deno.env.get("HOME") ?? "/" },
      cwd: "/",
      stdin: "null",
      stdout: "piped",
      stderr: "null",
      signal: AbortSignal.timeout(PYTHON_MS),
    }).output();
    if (!success) return undefined;
    const { executable, ...about } = About.parse(JSON.parse(new TextDecoder().decode(stdout)));
    const found = findProgram(executable);
    return found === undefined ? undefined : { ...about, ...found };
  } catch (error) {
    const isNone = missing(error) || error instanceof SyntaxError || error instanceof z.ZodError;
    if (isNone) return undefined;
    throw error;
  }
}

const MAX_OUT = 8_000_000;
const MAX_SAID = 65_536;
const SIZE_CHECK_MS = 500;

async function runStep(step: FetchStep): Promise<FetchStepEnd> {
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
      // The process has ended by itself.
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
      // A file that vanished while it was counted is no reason to stop.
      if (error instanceof Fault) stop(error);
    }
  }, SIZE_CHECK_MS);
  try {
    if (step.input !== undefined) {
      const input = child.stdin.getWriter();
      await input.write(new TextEncoder().encode(step.input)).catch(() => undefined);
      await input.close().catch(() => undefined);
    }
    const [out, said, { code }] = await Promise.all([
      taken(child.stdout, MAX_OUT),
      taken(child.stderr, MAX_SAID),
      child.status,
    ]);
    if (fault !== undefined) throw fault;
    return { code, out, said };
  } finally {
    clearTimeout(late);
    clearInterval(look);
  }
}

/** The beginning of a stream, at most `max` characters; the rest is read and discarded. */
async function taken(stream: ReadableStream<Uint8Array>, max: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    if (text.length < max) text += decoder.decode(chunk, { stream: true });
  }
  return text.slice(0, max);
}

/** Computes a tree's digest and counts (bridges/mcp/tree). Throws `refused`. */
type TreeDigester = (folder: string) => Omit<McpTree, "id" | "sha256"> & {
  readonly sha256: string;
};

/** Files beneath a folder, with relative paths. Throws `tooLarge`. */
function treeFiles(folder: string): { path: string; bytes: number }[] {
  const found: { path: string; bytes: number }[] = [];
  let bytes = 0;
  const walk = (at: string): void => {
    for (const entry of Deno.readDirSync(join(folder, at))) {
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory) walk(path);
      else {
        const { size } = Deno.lstatSync(join(folder, path));
        bytes += size;
        found.push({ path, bytes: size });
      }
      if (found.length > TREE_FILES || bytes > TREE_BYTES) {
        throw new Fault(
          "tooLarge",
          `Cannot fetch: it has more than ${TREE_BYTES / 1_000_000} MB or ${TREE_FILES} files`,
        );
      }
    }
  };
  walk("");
  return found;
}

/**
 * Sets the modes of everything beneath a folder: readable by all, since a server may run as nobody;
 * the folders above it admit their owner alone.
 */
function permit(folder: string, writable: boolean): void {
  const bit = writable ? 0o200 : 0;
  for (const entry of Deno.readDirSync(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) {
      Deno.chmodSync(path, 0o700);
      permit(path, writable);
      Deno.chmodSync(path, 0o555 | bit);
    } else if (entry.isFile) {
      const executable = ((Deno.statSync(path).mode ?? 0) & 0o100) !== 0;
      Deno.chmodSync(path, (executable ? 0o555 : 0o444) | bit);
    }
  }
}

function keepTree(draft: string, { trees, prefix }: TreeName, digestTree: TreeDigester): McpTree {
  treeFiles(draft);
  permit(draft, false);
  const found = digestTree(draft);
  const id = `${prefix}-${found.sha256.slice(0, 32)}`;
  try {
    Deno.renameSync(draft, join(trees, id));
    // Last, since a read-only folder cannot be moved.
    Deno.chmodSync(join(trees, id), 0o555);
  } catch (error) {
    // The same tree exists already; a folder with files is never replaced.
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
    dropTree(draft);
  }
  return McpTree.parse({ id, ...found });
}

function dropTree(folder: string): void {
  try {
    Deno.chmodSync(folder, 0o700);
    permit(folder, true);
    Deno.removeSync(folder, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
