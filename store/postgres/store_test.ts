import { makePort } from "../../port/mod.ts";
import { STORE_PORT_LIMITS } from "../../contracts/wire/wire_store.ts";
import type { Port } from "../../contracts/base/port.ts";
import { storeContract, type StoreUnderTest } from "../_fixture/contract_suite.ts";
import { startPostgres } from "../_fixture/postgres_powers.ts";
import { openEngine } from "./engine_powers.ts";
import { openRemoteStore, type RemoteStore } from "./mod.ts";
import { makeStoreService } from "./service.ts";

/** Both ends of the port in this process: the process itself is tested where kernels are. */
function pair(): { readonly port: Port; close(): Promise<void> } {
  const there: Port = makePort({
    write: (bytes) => queueMicrotask(() => here.feed(bytes)),
    handler: { ask: (op, body) => service.ask(op, body), tell: () => undefined },
    limits: STORE_PORT_LIMITS,
    trusted: true,
  });
  const service = makeStoreService({ open: openEngine, tell: (op, body) => there.tell(op, body) });
  const here: Port = makePort({
    write: (bytes) => queueMicrotask(() => there.feed(bytes)),
    handler: { ask: () => null, tell: () => undefined },
    limits: STORE_PORT_LIMITS,
  });
  return { port: here, close: () => service.close() };
}

const server = await startPostgres();
addEventListener("unload", () => {
  Deno.kill(server.pid(), "SIGQUIT");
  Deno.removeSync(server.folder, { recursive: true });
});
let databases = 0;

async function make(): Promise<StoreUnderTest> {
  const url = await server.database(`contract${++databases}`);
  const open: (() => Promise<void>)[] = [];
  return {
    async open(): Promise<RemoteStore> {
      const { port, close } = pair();
      open.push(close);
      return await openRemoteStore(port, { url, kernel: "one", leaseMs: 60_000, machine: "m" });
    },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const close of open) await close();
    },
  };
}

storeContract("postgres", make, Deno.test);
