/** `file_search` over 10,000 files: live permissions against static flags, the same program. @module */
import {
  type Lease,
  LeaseId,
  MountName,
  Pid,
  type Scope,
  TaskId,
} from "../contracts/authority/mod.ts";
import type { Json } from "../contracts/base/mod.ts";
import { NOTHING_KNOWN } from "../contracts/memory/mod.ts";
import { NO_POLICY } from "../contracts/policy/mod.ts";
import type { HostCallAnswer, HostCallBody, KernelConfig } from "../contracts/wire/mod.ts";
import { realPowers } from "../kernel/_fixture/small_children.ts";
import { makeChildren } from "../kernel/core/child/children.ts";
import { makeSpawnPowers } from "../kernel/core/start/spawn_powers.ts";
import { makeToolhosts } from "../kernel/power/toolhost/toolhosts.ts";
import { makePort } from "../port/mod.ts";
import { median } from "./quantile.ts";
import { atMost, type Row } from "./row.ts";

const FILES = 10_000;
const ROUNDS = 5;
/** Each of 10,000 files is asked for: how many times as long as under flags, where nobody is. */
const MAX = 4;
const TASK = TaskId.parse("t000000000000");
const PID = Pid.parse(2);
const SCOPE: Scope = { resource: "mount", right: "read", path: "desk" };
const LEASE: Lease = {
  id: LeaseId.parse("l000000000000"),
  task: TASK,
  pid: PID,
  scope: SCOPE,
  grantedAt: 0,
  expiresAt: 1e15,
  reason: "bench",
};

type Search = (body: HostCallBody) => Promise<HostCallAnswer>;

/** One row: median of a few searches that read every file and find a needle in ten. */
export async function searchBench(): Promise<Row[]> {
  const dir = await Deno.realPath(await Deno.makeTempDir({ prefix: "remit-bench-" }));
  try {
    await fill(dir);
    const bundle = `${dir}/toolhost.js`;
    const main = new URL("../workspace/host/main.ts", import.meta.url).pathname;
    await new Deno.Command(Deno.execPath(), {
      args: ["bundle", "--quiet", "-o", bundle, main],
    }).output();
    const live = await withLive(dir, bundle, measure);
    const flags = await withFlags(dir, bundle, measure);
    const name = `file_search over ${FILES} files, live permissions against static flags`;
    return [atMost({ name, value: live, unit: "ms", baseline: flags }, MAX, "static flags")];
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

async function fill(dir: string): Promise<void> {
  for (const name of ["desk", "content", "scratch", "deno", "run"]) {
    await Deno.mkdir(`${dir}/${name}`);
  }
  const text = "a line of plain text in a file of about a kilobyte\n".repeat(20);
  for (let folder = 0; folder < 100; folder++) {
    await Deno.mkdir(`${dir}/desk/d${folder}`);
    for (let file = 0; file < FILES / 100; file++) {
      const needle = folder % 10 === 0 && file === 0 ? "the NEEDLE\n" : "";
      Deno.writeTextFileSync(`${dir}/desk/d${folder}/f${file}.txt`, text + needle);
    }
  }
}

async function measure(search: Search): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const started = performance.now();
    const answer = await search({
      id: `s${round}`,
      tool: "file_search",
      args: { query: "NEEDLE", path: "desk" },
      deadlineMs: 30_000,
      bytes: 65_536,
      key: "0",
      colour: "BLUE",
      label: "public",
    });
    const found = answer.content.split("\n").length;
    if (found !== 10) throw new Error(`Cannot measure: ${found} of 10 lines were found`);
    // The first round warms caches and starts the process.
    if (round > 0) times.push(performance.now() - started);
  }
  return median(times);
}

const setupOf = (dir: string): Json => ({
  mounts: [{
    name: "desk",
    root: `${dir}/desk`,
    mode: "stage",
    colour: "YELLOW",
    label: "internal",
    marks: [],
  }],
  content: `${dir}/content`,
  scratch: `${dir}/scratch`,
  never: [".env*", "*.env", "*.pem", "*.key", "**/.ssh/**"],
  overlay: [],
  scratchQuota: 1_000_000,
  recorded: [],
});

async function withFlags(
  dir: string,
  bundle: string,
  work: (search: Search) => Promise<number>,
): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-config", `--allow-read=${dir}`, bundle],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  const port = makePort({
    write: (bytes) => void writer.write(bytes.slice()),
    handler: { ask: () => Promise.reject(new Error("Cannot serve: nothing is")), tell(): void {} },
  });
  const pump = (async () => {
    for await (const chunk of child.stdout) port.feed(chunk);
  })();
  try {
    await port.ask("setup", setupOf(dir));
    return await work(async (body) =>
      await port.ask("call", body as unknown as Json) as unknown as HostCallAnswer
    );
  } finally {
    child.kill("SIGKILL");
    await pump;
    await child.status;
    port.close("measured");
  }
}

async function withLive(
  dir: string,
  bundle: string,
  work: (search: Search) => Promise<number>,
): Promise<number> {
  const spawn = makeSpawnPowers();
  const powers = realPowers();
  const children = await makeChildren({ config: await configOf(dir, bundle), powers, spawn });
  const toolhosts = makeToolhosts({
    contents: NOTHING_KNOWN,
    children,
    leases: {
      covering: () => LEASE,
      alive: () => true,
      dead: () => undefined,
      onEnd: () => () => {},
    },
    powers,
    spawn,
    policyNever: () => undefined,
  });
  try {
    toolhosts.open(TASK, {
      scratchQuota: 1_000_000,
      mounts: [{
        name: MountName.parse("desk"),
        dir: `${dir}/desk`,
        mode: "stage",
        colour: "YELLOW",
        label: "internal",
        marks: [],
      }],
      contentDir: `${dir}/content`,
      scratchDir: `${dir}/scratch`,
      prepare: () => Promise.resolve(),
      never: [".env*", "*.env", "*.pem", "*.key", "**/.ssh/**"],
      overlay: () => [],
    });
    const signal = new AbortController().signal;
    return await work((body) =>
      toolhosts.call(TASK, PID, body, { scopes: [SCOPE], writable: false, signal })
    );
  } finally {
    await toolhosts.close(TASK);
    await children.close();
  }
}

async function configOf(dir: string, bundle: string): Promise<KernelConfig> {
  const programs: Record<string, string> = { deno: await Deno.realPath(Deno.execPath()) };
  for (const name of ["bwrap", "setpriv", "prlimit", "nice"]) {
    const path = `/usr/bin/${name}`;
    if (await Deno.stat(path).then((stat) => stat.isFile, () => false)) programs[name] = path;
  }
  const { deno = "", ...optional } = programs;
  return {
    dir,
    runtime: `${dir}/run`,
    bundles: {
      worker: bundle,
      toolhost: bundle,
      model: bundle,
      plugin: bundle,
      net: bundle,
      copy: bundle,
      browser: "",
      remote: "",
      local: "",
      native: "",
      wiki: "",
      ...{ mcp: "", mcpTree: "", mcpRelay: "", a2a: "", store: "" },
    },
    weights: "/nowhere",
    addon: "",
    tools: { plugins: [] },
    secrets: [],
    secretsDigest: "",
    commands: [],
    browser: { engine: "static", program: "/usr/bin/chromium" },
    programs: { deno, ...optional },
    denoDir: `${dir}/deno`,
    personKey: "",
    policy: NO_POLICY,
    harness: "bench",
    brokerSockets: [`${dir}/run/b0`, `${dir}/run/b1`],
    ...{ proxySockets: [], mcpTrees: "" },
    controlSocket: `${dir}/run/c`,
    stay: false,
    idleMs: 1_000,
    pool: { workers: 0, plugins: 0 },
  };
}
