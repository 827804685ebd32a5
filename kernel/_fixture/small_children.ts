/** Shared by the tests of children: a configuration around small programs of their own. */
import { Fault, type PortHandler } from "../../contracts/base/mod.ts";
import { NO_POLICY } from "../../contracts/policy/mod.ts";
import type { Powers } from "../../contracts/task/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { type Children, makeChildren } from "../core/child/children.ts";
import { makePipePowers } from "../core/child/mcp_pipe_powers.ts";
import { makeSpawnPowers } from "../core/start/spawn_powers.ts";

/** A child that evaluates its requests and answers: `[id,"eval",source]`. */
export const EVALUATOR = `
const { stdin, stdout } = Deno; const enc = new TextEncoder(), dec = new TextDecoder();
const send = (frame) => { const b = enc.encode(JSON.stringify(frame) + "\\n"); for (let n = 0; n < b.length;) n += stdout.writeSync(b.subarray(n)); };
globalThis.send = send;
const serve = async ([id, op, body]) => {
  if (id === 0) return;
  if (op !== "eval" && op !== "call" && op !== "setup") return send([-id, "invalidInput", "Cannot serve: unknown", null]);
  if (op === "setup") { globalThis.setup = body; return send([-id, null, null]); }
  const source = op === "eval" ? body : body.args.source;
  let value; try { value = await (0, eval)("(async () => {" + source + "})()"); } catch (e) { value = "!" + e.name + ": " + e.message; }
  if (value === undefined) value = null;
  send([-id, null, op === "eval" ? value : { content: String(value), colour: "YELLOW", label: "internal", sources: [] }]);
};
const chunk = new Uint8Array(65536); let rest = "";
for (;;) { const n = await stdin.read(chunk); if (n === null) Deno.exit(0);
  rest += dec.decode(chunk.subarray(0, n), { stream: true }); let i;
  while ((i = rest.indexOf("\\n")) >= 0) { const line = rest.slice(0, i); rest = rest.slice(i + 1); serve(JSON.parse(line)); } }
`;

/** A machine's folder for one test, removed with {@link World.close}. */
export interface World {
  readonly dir: string;
  readonly config: KernelConfig;
  children(changes?: Partial<KernelConfig>): Promise<Children>;
  close(): Promise<void>;
}

const find = (name: string): string | undefined =>
  ["/usr/bin", "/bin", "/usr/local/bin"].map((folder) => `${folder}/${name}`).find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });

/** Tells whether bubblewrap is installed; without it tests that need it are skipped, and fail where CI=true. */
export const HAS_BWRAP = find("bwrap") !== undefined || Deno.env.get("CI") === "true";
/** As {@link HAS_BWRAP}, for prlimit. */
export const HAS_PRLIMIT = find("prlimit") !== undefined || Deno.env.get("CI") === "true";
/** As {@link HAS_BWRAP}, for setpriv. */
export const HAS_SETPRIV = find("setpriv") !== undefined || Deno.env.get("CI") === "true";

/** Makes a world whose children run `source`. */
export async function makeWorld(source: string = EVALUATOR): Promise<World> {
  const dir = await Deno.realPath(await Deno.makeTempDir({ prefix: "remit-k-" }));
  for (const folder of ["deno", "run", "content", "scratch", "desk", "desk/notes"]) {
    await Deno.mkdir(`${dir}/${folder}`);
  }
  await Deno.writeTextFile(`${dir}/desk/notes/a.md`, "alpha\n");
  await Deno.writeTextFile(`${dir}/desk/keys.env`, "SECRET=1\n");
  await Deno.writeTextFile(`${dir}/child.js`, source);
  const optional = (name: "bwrap" | "setpriv" | "prlimit" | "nice"): Record<string, string> => {
    const path = find(name);
    return path === undefined ? {} : { [name]: path };
  };
  const config: KernelConfig = {
    dir,
    runtime: `${dir}/run`,
    bundles: {
      worker: `${dir}/child.js`,
      toolhost: `${dir}/child.js`,
      model: `${dir}/child.js`,
      plugin: `${dir}/child.js`,
      net: `${dir}/child.js`,
      copy: `${dir}/child.js`,
      browser: `${dir}/child.js`,
      remote: "",
      local: "",
      native: "",
      wiki: "",
      mcp: "",
      mcpTree: "",
      mcpRelay: "",
      store: "",
      a2a: "",
      agentClient: "",
      agentRelay: "",
    },
    weights: "/nowhere",
    addon: "",
    tools: { plugins: [] },
    secrets: [],
    secretsDigest: "",
    commands: [],
    browser: { engine: "static", program: "/usr/bin/chromium" },
    programs: {
      deno: await Deno.realPath(Deno.execPath()),
      ...optional("bwrap"),
      ...optional("setpriv"),
      ...optional("prlimit"),
      ...optional("nice"),
    },
    mark: `remit-${crypto.randomUUID()}-1`,
    denoDir: `${dir}/deno`,
    personKey: "",
    policy: NO_POLICY,
    harness: "test",
    brokerSockets: [`${dir}/run/b0`, `${dir}/run/b1`],
    proxySockets: [],
    mcpTrees: `${dir}/trees`,
    controlSocket: `${dir}/run/c`,
    stay: false,
    idleMs: 1_000,
    pool: { workers: 0, plugins: 0 },
  };
  const made: Children[] = [];
  return {
    dir,
    config,
    async children(changes = {}): Promise<Children> {
      const children = await makeChildren({
        config: { ...config, ...changes },
        powers: realPowers(),
        spawn: makeSpawnPowers(),
        pipes: makePipePowers(),
      });
      made.push(children);
      return children;
    },
    async close(): Promise<void> {
      for (const children of made) await children.close();
      await Deno.remove(dir, { recursive: true });
    },
  };
}

/** Real clock and timers. */
export function realPowers(): Powers {
  let n = 0;
  return {
    now: () => Date.now(),
    id: (prefix) => prefix + (++n).toString(36).padStart(12, "0"),
    token: () => crypto.randomUUID().replaceAll("-", ""),
    // TIMER: the powers of real children; no test waits for it.
    after(ms, f): () => void {
      const timer = setTimeout(f, ms);
      return () => clearTimeout(timer);
    },
    reach: () => undefined,
  };
}

/** Serves no request. */
export const DEAF: PortHandler = {
  ask(op): never {
    throw new Fault("unknownCapability", `Cannot serve "${op}": nothing was handed over`);
  },
  tell: () => undefined,
};

/** Tells whether an operating-system process with this id runs (a zombie does not). */
export function runs(pid: number): boolean {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    return !stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
  } catch {
    return false;
  }
}
