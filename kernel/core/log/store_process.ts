/**
 * The log in a database: its process starts before everything else, and the kernel ends with it.
 * Wired in kernel/main.ts.
 * @module
 */
import type { Json } from "../../../contracts/base/json.ts";
import type { PortHandler } from "../../../contracts/base/port.ts";
import type { KernelConfig, StoreChoice } from "../../../contracts/wire/wire_control.ts";
import { parseAddress } from "../../../contracts/wire/store_address.ts";
import { openRemoteStore, type RemoteStore } from "../../../store/postgres/mod.ts";
import { startChild } from "../child/child.ts";
import { lineOfStore } from "../start/store_line.ts";
import type { SpawnPowers } from "../start/spawn.ts";
import { probeWalls } from "../start/walls.ts";

/** The store's choice, powers and listeners. */
export interface StoreProcessParts {
  readonly config: KernelConfig;
  readonly choice: StoreChoice;
  readonly spawn: SpawnPowers;
  readonly now: () => number;
  /** Called with the process's notifications: there may be something new to read. */
  hear(op: string, body: Json): void;
  /** Called with the reason when the process ended: nothing can be made durable any more. */
  lost(why: string): void;
}

/**
 * Starts the store process and opens the log.
 * @throws Fault as the database says
 */
export async function startStoreProcess(parts: StoreProcessParts): Promise<RemoteStore> {
  const { config, choice, spawn, now, hear, lost } = parts;
  const { host, port } = parseAddress(choice.url);
  const handler: PortHandler = { ask: () => null, tell: hear };
  const walls = await probeWalls(config, spawn);
  const line = lineOfStore(config, walls, { host, port });
  const child = startChild({ role: "store", line, handler, spawn, now });
  let closing = false;
  const opened = openRemoteStore(child.port, choice);
  const ended = child.exited.then(async () => {
    if (!closing) lost(await child.end());
  });
  void ended;
  const store = await opened.catch(async (error: unknown) => {
    closing = true;
    await child.kill();
    throw error;
  });
  return Object.freeze<RemoteStore>({
    ...store,
    async close(): Promise<void> {
      closing = true;
      await store.close();
      await child.kill();
    },
  });
}
