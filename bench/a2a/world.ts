/** `remit serve` as a person starts it, and servers on the SDK alone. @module */
import { type Machine, onMachine } from "../../tests/fake/remit.ts";
import { configure, startService } from "../../tests/fake/service.ts";
import type { PeerAt } from "./client.ts";
import { SCENARIO } from "./shape.ts";
import { startLineProcess } from "../_line_process.ts";

/** A service with the operating-system processes that it is. */
export interface ServedPeer extends PeerAt {
  readonly machine: Machine;
  /** `remit serve`, its gateway, the kernel. */
  readonly pids: {
    readonly service: number;
    readonly gateway: number;
    readonly kernel: number;
  };
}

/** A server on the SDK; `kernel` is its kernel where it has one. */
export interface BarePeer extends PeerAt, AsyncDisposable {
  readonly pids: readonly number[];
}

const OPEN = 10_000;

/** Starts it over a state of its own, lets the one peer in, and ends it. */
export async function withService(f: (peer: ServedPeer) => Promise<void>): Promise<void> {
  await onMachine(async (machine) => {
    const play = await machine.write("play.yaml", SCENARIO);
    const limits = `open: ${OPEN}, perDay: 1000000, perMinute: 1000000, progress: true`;
    await configure(
      machine,
      `model: scripted:${play}
serve: { name: Bench, skills: [{ id: tides, name: Tides, description: "Tells tides." }] }
peers:
  alice: { accept: auto, ${limits} }
`,
    );
    const token = (await machine.remit(["a2a", "token", "create", "alice"])).stdout.trim();
    const service = await startService(machine);
    try {
      const { gateway, kernel } = await processesOf(service.pid);
      const pids = { service: service.pid, gateway, kernel };
      await f({ machine, url: `${service.url}/a2a`, token, pids });
    } finally {
      service.kill("SIGTERM");
      await service.ended;
    }
  });
}

/** Starts one. */
export async function startBare(kind: "echo" | "kernel"): Promise<BarePeer> {
  const source = new URL("bare.ts", import.meta.url).pathname;
  const own = await startLineProcess([source, kind]);
  const { url, pids } = JSON.parse(own.greeting);
  return { url, token: "none", pids, [Symbol.asyncDispose]: () => own[Symbol.asyncDispose]() };
}

/** Both are started by the service. */
async function processesOf(
  service: number,
): Promise<{ readonly gateway: number; readonly kernel: number }> {
  const children = await Deno.readTextFile(`/proc/${service}/task/${service}/children`);
  const found = { gateway: 0, kernel: 0 };
  for (const pid of children.trim().split(" ").map(Number)) {
    const line = await Deno.readTextFile(`/proc/${pid}/cmdline`);
    if (line.includes("gateway.js")) found.gateway = pid;
    else if (line.includes("kernel.js")) found.kernel = pid;
  }
  return found;
}
