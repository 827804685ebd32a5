/** Several kernels on one database, each in a home of its own, as on several machines. */
import { makeKeyFile, openKey } from "../../config/key/person_key_powers.ts";
import { provideStore } from "../../launch/program/program_cache_powers.ts";
import { startPostgres, type TestServer } from "../../store/_fixture/postgres_powers.ts";
import { openEngine } from "../../store/postgres/engine_powers.ts";
import { cache, type HomeOptions, inHome, type KernelHome, type LiveKernel } from "./kernel.ts";

/** Milliseconds of a lease: short, for a quick takeover, and long compared to a heartbeat on a busy machine. */
export const LEASE_MS = 8_000;

/** A database and the homes on it. */
export interface Fleet {
  readonly server: TestServer;
  /** For the role that owns the schema. */
  readonly url: string;
  readonly homes: readonly KernelHome[];
  /** The folder that all kernels share; in it they may connect to the socket `s`. */
  readonly work: string;
  /** Rows of a statement run by the owner. */
  query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** A row of `remit fleet list`. */
export interface FleetRow {
  readonly name: string;
  readonly state: string;
  readonly alive: boolean;
  readonly tasks: number;
  readonly late: number;
}

/** How a fleet differs from a plain one. */
export interface FleetOptions extends HomeOptions {
  readonly leaseMs?: number;
  /** The server; absent: a fresh one. */
  readonly server?: TestServer;
  /** How home number `n` differs, with the address of its database. */
  home?(n: number, url: string): HomeOptions & { readonly url?: string };
}

/** Runs `f` with `count` homes on a fresh server; the kernels share a person and a folder for staged content. */
export async function inFleet(
  count: number,
  f: (fleet: Fleet) => Promise<void>,
  options: FleetOptions = {},
): Promise<void> {
  await using fresh = options.server === undefined ? await startPostgres() : undefined;
  const server = options.server ?? fresh;
  if (server === undefined) throw new TypeError("Cannot run a fleet: it has no server");
  const url = await server.database("fleet");
  const work = await Deno.makeTempDir({ prefix: "remit-work-" });
  const store = await provideStore({
    ...{ home: new URL("../../", import.meta.url).pathname, cache: cache() },
    onBuild: () => undefined,
  });
  const person = openKey(makeKeyFile());
  const engine = openEngine(url);
  const within = async (homes: readonly KernelHome[]): Promise<void> => {
    if (homes.length === count) {
      return await f({ server, url, homes, work, query: (sql) => engine.read(sql, []) });
    }
    const { url: own = url, ...more } = options.home?.(homes.length, url) ?? {};
    await inHome((home) => within([...homes, home]), {
      ...options,
      ...more,
      person,
      sockets: [`${work}/s`],
      bundles: { ...options.bundles, store },
      store: {
        ...{ url: own, kernel: `k${homes.length}`, leaseMs: options.leaseMs ?? LEASE_MS },
        ...{ machine: "m", work },
      },
    });
  };
  try {
    await within([]);
  } finally {
    await engine.close();
    await Deno.remove(work, { recursive: true });
  }
}

/** The fleet as one of its kernels sees it. */
export async function fleetOf(kernel: LiveKernel): Promise<readonly FleetRow[]> {
  return await kernel.ask("fleet", { kind: "list" }) as unknown as readonly FleetRow[];
}

/** Verifies every log of the fleet; throws for an invalid one. */
export async function fleetVerifies(kernel: LiveKernel): Promise<void> {
  const report = await kernel.ask("fleet", { kind: "verify" }) as { readonly ok?: boolean };
  if (report.ok !== true) throw new Error(`Cannot verify the fleet: ${JSON.stringify(report)}`);
}

/** Waits until `look` gives a value: events of another process do not reach this one. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined>,
  ms = 300_000,
): Promise<T> {
  const began = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() - began > ms) throw new Error(`Cannot see ${what} in ${ms} ms`);
    // TIMER: other processes give no event.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until a kernel owns a task, and does not only know the owner. */
export async function hasTask(kernel: LiveKernel, task: string, ms?: number): Promise<void> {
  await until(`task ${task} at its kernel`, async () => {
    // Rows move with the claim; only a kernel that has adopted the task answers about its conversation.
    return await kernel.ask("context", { task }).then(() => true, () => undefined);
  }, ms);
}
