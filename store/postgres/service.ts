/** The store process's service for its kernel: rows over a port. Used by main.ts. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { isObject, type Json, type JsonObject, toJson } from "../../contracts/base/json.ts";
import type { PortHandler } from "../../contracts/base/port.ts";
import { Digest } from "../../contracts/authority/ids.ts";
import type { Batch, Store } from "../../contracts/task/store.ts";
import type { StoreBatch, StoreOpen } from "../../contracts/wire/wire_store.ts";
import type { Engine } from "./engine_powers.ts";
import { makeFleet } from "./fleet.ts";
import { documentPage, documentRow, eventPage } from "./_rows.ts";
import { enroll, migrate, openPostgresStore, type PostgresStore } from "./store.ts";

export interface ServiceParts {
  open(url: string): Engine;
  /** Notifies the kernel of possible new rows: `work`, `post`. It must read to know. */
  tell(op: string, body: Json): void;
}

/** Serves one kernel. */
export function makeStoreService(parts: ServiceParts): PortHandler & { close(): Promise<void> } {
  let opened:
    | { readonly store: PostgresStore; readonly ask: ReturnType<typeof makeFleet> }
    | undefined;
  let engine: Engine | undefined;
  const need = (): NonNullable<typeof opened> => {
    if (opened === undefined) throw new Fault("gone", "Cannot use the store: it is not open");
    return opened;
  };

  const open = async (body: Json): Promise<Json> => {
    if (engine !== undefined) throw new Fault("conflict", "Cannot open the store: it is open");
    const { url, kernel, leaseMs, machine } = body as unknown as StoreOpen;
    engine = parts.open(url);
    await migrateIfAllowed(engine);
    const store = await openPostgresStore({ engine, kernel, leaseMs, machine });
    opened = {
      store,
      ask: makeFleet({ engine, store, tell: parts.tell, enroll: enrolling(engine, url) }),
    };
    return toJson(store.identity);
  };

  return Object.freeze({
    ask(op: string, body: Json): Promise<Json> {
      return op === "open" ? open(body) : answer(op, body, need());
    },
    tell: () => undefined,
    close: async () => await engine?.close(),
  });
}

/** The address of a kernel with a separate role, in the database of `url`. */
function enrolling(engine: Engine, url: string): (name: string) => Promise<string> {
  return async (name) => {
    const address = new URL(url);
    address.username = `remit_${name}`;
    address.password = await enroll(engine, name);
    address.searchParams.set("kernel", name);
    return address.href;
  };
}

/** Migrates where the role may. A kernel's own role may not: then another role did it before. */
async function migrateIfAllowed(engine: Engine): Promise<void> {
  try {
    await migrate(engine);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "refused") throw error;
  }
}

async function answer(
  op: string,
  body: Json,
  { store, ask }: { readonly store: PostgresStore; readonly ask: ReturnType<typeof makeFleet> },
): Promise<Json> {
  // TRUST: from this process's own kernel, with its types.
  const query = (isObject(body) ? body : {}) as JsonObject;
  switch (op) {
    case "commit":
      await store.commit(batchOf(body as unknown as StoreBatch));
      return null;
    case "events":
      return eventPage(await store.events(query as Parameters<Store["events"]>[0]));
    case "heads":
      return eventPage(await store.heads(query));
    case "blob": {
      const { task, digest } = query;
      const found = await store.blob(String(task), Digest.parse(digest));
      return found === undefined
        ? null
        : { salt: found.salt.toBase64(), bytes: found.bytes.toBase64() };
    }
    case "erase":
      return await store.eraseBlobs(String(query["task"]));
    case "documents":
      return documentPage(
        await store.documents(query as unknown as Parameters<Store["documents"]>[0]),
      );
    case "document": {
      const found = await store.document(String(query["kind"]), String(query["id"]));
      return found === undefined ? null : documentRow(found);
    }
    case "kinds":
      return await store.documentKinds().then((kinds) => [...kinds]);
    case "fleet":
      return await ask(body);
    default:
      throw new Fault("unknownCapability", `Cannot serve "${op.slice(0, 64)}": not handed over`);
  }
}

function batchOf({ events, blobs, documents }: StoreBatch): Batch {
  return {
    events: events.map((each) => ({ ...each, hash: Digest.parse(each.hash) })),
    blobs: blobs.map(({ task, digest, salt, bytes }) => ({
      task,
      digest: Digest.parse(digest),
      salt: Uint8Array.fromBase64(salt),
      bytes: Uint8Array.fromBase64(bytes),
    })),
    documents: documents.map((each) => ({ ...each, body: JSON.parse(each.body) as JsonObject })),
  };
}
