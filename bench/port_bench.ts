/** The port against a bare line echo between Deno processes on plain streams. @module */
import { spawn } from "node:child_process";
import type { Json } from "../contracts/base/json.ts";
import { portOverChild } from "../port/_fixture/child_port.ts";
import { median } from "./quantile.ts";
import { atLeast, atMost, type Row, shown } from "./row.ts";

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

const ROUNDS = 25;
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
  const bare: Figures[] = [];
  const port: Figures[] = [];
  try {
    const echo = `${folder}/raw_echo.js`;
    await Deno.writeTextFile(echo, RAW_ECHO);
    const callees = [startRaw(echo), startPort()] as const;
    for (const callee of callees) await warm(callee);
    // In short turns: which core a child wakes up on doubles every figure, and changes by the second.
    for (let round = 0; round < ROUNDS; round++) {
      bare.push(await measure(callees[0]));
      port.push(await measure(callees[1]));
    }
    for (const callee of callees) callee.kill();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  return rowsOf(port, bare);
}

function rowsOf(port: readonly Figures[], bare: readonly Figures[]): Row[] {
  const figure = (pick: (figures: Figures) => number) => ({
    value: median(port.map(pick)),
    baseline: median(bare.map(pick)),
  });
  const trip = figure((figures) => figures.roundTrip);
  const body = figure((figures) => figures.body);
  const perSecond = IN_FLIGHT.map((_, i) => figure((figures) => figures.perSecond[i] ?? 0));
  const per = perSecond.map((rate, i) => ({
    ...{ name: `port calls, ${IN_FLIGHT[i]} in flight`, unit: "/s", ...rate },
  }));
  return [
    atMost({ name: "port round trip", unit: "µs", ...trip }, 1, "a bare echo"),
    // A call has an id, a limit and a check of its shape on both sides, and the echo has none.
    ...per.map((rate, i) =>
      i === 0 ? shown(rate) : atLeast(rate, i === 1 ? 0.5 : 0.25, "a bare echo")
    ),
    // Its text travels raw beside its frame, that of the echo as JSON, which is read on one side only.
    atMost({ name: "port 64 KB body", unit: "ms", ...body }, 1.25, "a bare echo"),
  ];
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

async function warm({ call }: Callee): Promise<void> {
  await timesOf(() => call(SMALL), 3_000);
  await timesOf(() => call(LARGE), 100);
}

async function measure({ call }: Callee): Promise<Figures> {
  const roundTrip = median(await timesOf(() => call(SMALL), 300)) * 1_000;
  const perSecond: number[] = [];
  for (const inFlight of IN_FLIGHT) {
    const calls = inFlight === 1 ? 300 : 6_000;
    let left = calls;
    const caller = async (): Promise<void> => {
      while (left-- > 0) await call(SMALL);
    };
    const start = performance.now();
    await Promise.all(Array.from({ length: inFlight }, caller));
    perSecond.push(calls / (performance.now() - start) * 1_000);
  }
  const body = median(await timesOf(() => call(LARGE), 40));
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
