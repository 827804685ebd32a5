/** The port against a bare line echo between Deno processes on plain streams. Issue 2, "How well". @module */
import { spawn } from "node:child_process";
import type { Json } from "../contracts/json.ts";
import { portOverChild } from "../port/stream_powers.ts";
import type { Row } from "./row.ts";

/** Something that can be called and ended: a port's child, or the bare echo. */
interface Callee {
  call(body: Json): Promise<unknown>;
  kill(): void;
}

interface Figures {
  readonly roundTrip: number;
  readonly perSecond: readonly number[];
  readonly body: number;
}

const ROUNDS = 5;
const IN_FLIGHT = [1, 16, 64];
const SMALL: Json = { path: "docs/a.md", limit: 100 };
/** 64 KB of ASCII source text: quotes, tabs and newlines as they come in programs. */
const LARGE = Array.from(
  { length: 1_100 },
  (_, i) => `\tif (line === ${i}) return refuse("quoted text", { line, at });`,
).join("\n").slice(0, 65_536);

const FLAGS = ["--no-prompt", "--no-config", "--no-lock", "--no-remote", "--no-npm", "--quiet"];
const RAW_ECHO = `const b = new Uint8Array(262144);
for (;;) {
  const n = await Deno.stdin.read(b);
  if (n === null) break;
  for (let o = 0; o < n;) o += Deno.stdout.writeSync(b.subarray(o, n));
}`;

/** Round trip, calls a second at 1, 16 and 64 in flight, and a 64 KB body; takes about ten seconds. */
export async function portBench(): Promise<Row[]> {
  const folder = await Deno.makeTempDir();
  const raw: Figures[] = [];
  const port: Figures[] = [];
  try {
    const echo = `${folder}/raw_echo.js`;
    await Deno.writeTextFile(echo, RAW_ECHO);
    // In turns, so that both meet the same weather.
    for (let round = 0; round < ROUNDS; round++) {
      raw.push(await measure(startRaw(echo)));
      port.push(await measure(startPort()));
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  const of = (figures: readonly Figures[], pick: (figure: Figures) => number): number =>
    median(figures.map(pick));
  const perSecond = IN_FLIGHT.map((_, i) => of(port, (figure) => figure.perSecond[i] ?? 0));
  const fastest = Math.max(...perSecond.slice(1));
  const roundTrip = of(port, (figure) => figure.roundTrip);
  const bareRoundTrip = of(raw, (figure) => figure.roundTrip);
  const body = of(port, (figure) => figure.body);
  const rows: Row[] = [
    row("port round trip", "µs", roundTrip, bareRoundTrip, "≤ 1× bare", roundTrip <= bareRoundTrip),
  ];
  for (const [i, inFlight] of IN_FLIGHT.entries()) {
    const bare = of(raw, (figure) => figure.perSecond[i] ?? 0);
    const target = inFlight === 1 ? "shown" : "≥ 150,000 at 16 or more";
    const ok = inFlight === 1 || fastest >= 150_000;
    rows.push(row(`port calls, ${inFlight} in flight`, "/s", perSecond[i] ?? 0, bare, target, ok));
  }
  const bareBody = of(raw, (figure) => figure.body);
  rows.push(row("port 64 KB body", "ms", body, bareBody, "≤ 0.6 ms", body <= 0.6));
  return rows;
}

function row(
  name: string,
  unit: string,
  value: number,
  baseline: number,
  target: string,
  ok: boolean,
): Row {
  return { name, value, unit, baseline, ratio: value / baseline, target, ok };
}

function startPort(): Callee {
  const child = spawn(Deno.execPath(), [
    "run",
    ...FLAGS,
    "--no-check",
    new URL("../port/_fixture/echo_child.ts", import.meta.url).pathname,
  ], { stdio: ["pipe", "pipe", "inherit"] });
  const port = portOverChild(child, {
    handler: { ask: (): Json => null, tell(): void {} },
    limits: { framesPerSecond: 1_000_000 },
  });
  return { call: (body) => port.ask("echo", body), kill: () => void child.kill("SIGKILL") };
}

function startRaw(echo: string): Callee {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...FLAGS, echo],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const encoder = new TextEncoder();
  const writer = child.stdin.getWriter();
  const waiting: (() => void)[] = [];
  let lines = "";
  const receive = async (): Promise<void> => {
    for await (const chunk of child.stdout) {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) waiting.shift()?.();
    }
  };
  const flush = (): void => {
    const bytes = encoder.encode(lines);
    lines = "";
    writer.write(bytes).catch(() => {});
  };
  receive();
  return {
    call: (body) =>
      new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (lines === "") queueMicrotask(flush);
        lines += JSON.stringify(body) + "\n";
      }),
    kill: () => child.kill("SIGKILL"),
  };
}

async function measure({ call, kill }: Callee): Promise<Figures> {
  await timesOf(() => call(SMALL), 3_000);
  const roundTrip = median(await timesOf(() => call(SMALL), 3_000)) * 1_000;
  const perSecond: number[] = [];
  for (const inFlight of IN_FLIGHT) {
    const calls = inFlight === 1 ? 3_000 : 40_000;
    let left = calls;
    const caller = async (): Promise<void> => {
      while (left-- > 0) await call(SMALL);
    };
    const start = performance.now();
    await Promise.all(Array.from({ length: inFlight }, caller));
    perSecond.push(calls / (performance.now() - start) * 1_000);
  }
  await timesOf(() => call(LARGE), 100);
  const body = median(await timesOf(() => call(LARGE), 300));
  kill();
  return { roundTrip, perSecond, body };
}

/** Milliseconds of each of `count` calls, one after the other. */
async function timesOf(call: () => Promise<unknown>, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    await call();
    times.push(performance.now() - start);
  }
  return times;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;
}

if (import.meta.main) {
  // deno-lint-ignore no-console
  console.table(await portBench());
  Deno.exit(0);
}
