/** The kernel process: locks its folder, opens its log, and serves; over a damaged log it serves only the repair. @module */
import { Fault } from "../contracts/base/fault.ts";
import { isObject } from "../contracts/base/json.ts";
import { Digest } from "../contracts/authority/ids.ts";
import type { ContentTrust } from "../contracts/memory/mod.ts";
import type { KernelConfig, StoreChoice } from "../contracts/wire/mod.ts";
import {
  openLog,
  readPrivate,
  repairTail,
  verifyChain,
  verifyFrom,
  verifyLog,
} from "../broker/audit/mod.ts";
import { KEY_POWERS, LOG_POWERS } from "../broker/audit/log_powers.ts";
import { loadOrMakeReceiptKey } from "../broker/audit/signer.ts";
import { type Control, type ControlHandlers, damagedHandlers } from "./control/control.ts";
import { type IdleWatch, makeIdleWatch } from "./control/idle_watch.ts";
import {
  disk,
  exit,
  markOf,
  note,
  onTerminate,
  readConfigLine,
  realPowers,
} from "./main_powers.ts";
import {
  type CheckedSeal,
  type LogCareParts,
  makeLogCare,
  makeMending,
  openStore,
} from "./core/log/care.ts";
import { startStoreProcess } from "./core/log/store_process.ts";
import { makeSpawnPowers } from "./core/start/spawn_powers.ts";
import type { RemoteStore } from "../store/postgres/mod.ts";
import { inSlices } from "./core/log/read_events.ts";
import { openContents } from "./core/log/contents.ts";
import { NO_PEERS } from "./power/peer/peer_ops.ts";
import { serveControl, type ServeParts } from "./serve_control.ts";
import { NOTHING_TO_WATCH } from "./core/log/watch.ts";
import { work } from "./main_work.ts";

// TRUST: init is the operator's own program, and wrote this line.
const given = JSON.parse(await readConfigLine()) as KernelConfig;
const config: KernelConfig = { ...given, mark: markOf(given.dir) };
const powers = realPowers(config.failpoint);
if (!await disk.lock(`${config.dir}/lock`)) {
  note(`Cannot start: another kernel has ${config.dir}`);
  exit(3);
}
const database = `${config.dir}/remit.db`;
const refuse = (why: string): never => {
  note(why);
  return exit(1);
};

/** Called when messages or work for this kernel may have arrived; replaced once the kernel is working. */
const heard = { now: (_channel: string): void => undefined };
const remote = config.store === undefined ? undefined : await openInDatabase(config.store);
const { store, damage } = remote === undefined
  ? openStore(database, refuse)
  : { store: remote, damage: undefined };
const signer = await loadOrMakeReceiptKey({
  powers: KEY_POWERS,
  path: `${config.dir}/receipt_key`,
});
const damaged = disk.flag(`${config.dir}/damaged`);
/** Events of one check of the log's new part, after which the progress is saved. */
const CHECK_EVENTS = 5_000;
const { publicKey } = signer;
const turns = { now: () => performance.now(), soon: LOG_POWERS.soon };
/** For long readers of the log, between whose reads signals are handled. */
const slowStore = inSlices(store, turns);
const care = makeLogCare({
  store: { ...slowStore, documentKinds: store.documentKinds },
  damage,
  verify: (head) =>
    verifyLog({ store: slowStore, publicKey, ...(head === undefined ? {} : { head }) }),
  verifyFrom: (from) =>
    verifyFrom({
      ...{ store: slowStore, publicKey, most: CHECK_EVENTS },
      ...(from === undefined ? {} : { from }),
    }),
  checked: checkedFile(`${config.dir}/checked`),
  verifyChain: (task) => verifyChain(store, task),
  note: damaged,
});
const end = { now: (): void => exit(0) };
onTerminate(() => end.now());

try {
  await care.check();
  const plainLog = await openLog({ store, signer, ...LOG_POWERS, now: powers.now });
  const contents = await provideContents();
  await work({
    steady: turns.now,
    config,
    powers,
    store,
    slowStore,
    contents,
    plainLog,
    ...{ remote, heard },
    receiptKey: publicKey,
    care,
    end,
    serve,
    idleUnless,
  });
} catch (error) {
  if (!(error instanceof Fault) || error.code !== "storeCorrupt") throw error;
  note(error.message);
  const repair = remote === undefined
    ? makeMending({
      ...{ store, database, note: damaged, now: powers.now },
      copyTo: (fresh, how) => repairTail({ store, fresh, signer, ...LOG_POWERS, ...how }),
      mended: () => void powers.after(100, () => end.now()),
    })
    : () => Promise.reject(notMended());
  const control = await serve(
    damagedHandlers({ damage: error, verify: care.verify, repair, stop: () => end.now() }),
    {
      head: () => "",
      secrets: () => config.secretsDigest,
      watching: NOTHING_TO_WATCH,
      peers: NO_PEERS,
    },
  );
  idleUnless(() => control.connections() > 0).start();
}

function notMended(): Fault {
  return new Fault(
    "unavailable",
    "Cannot repair a log in a database from here: nothing can be cut off there; restore the database from its backup",
  );
}

/** Opens the log in a database. When the store's process ends, this process ends too, because nothing could be made durable. */
async function openInDatabase(choice: StoreChoice): Promise<RemoteStore> {
  try {
    return await startStoreProcess({
      ...{ config, choice, spawn: makeSpawnPowers(), now: powers.now },
      hear: (_op, body) => heard.now(isObject(body) ? String(body["channel"]) : ""),
      lost: (why) => refuse(`Cannot go on without the store: its process ${why}`),
    });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return refuse(error.message);
  }
}

/** Opens the known contents. Without them no task could judge what it reads, so this process ends. */
async function provideContents(): Promise<ContentTrust> {
  const path = `${config.dir}/contents.db`;
  try {
    return await openContents({ path, store, readPrivate: (event) => readPrivate(store, event) });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    note(
      `${error.message}. Restore it from a backup, or remove it: colours of tasks are read anew`,
    );
    return exit(1);
  }
}

/** Makes the watch that ends this process after a time without work. */
function idleUnless(busy: () => boolean): IdleWatch {
  const { idleMs, stay } = config;
  return makeIdleWatch({
    ...{ powers, idleMs, stay, busy, end: () => end.now() },
    deserted: () => disk.deserted(config),
  });
}

/** Serves the control socket. */
function serve(
  handlers: ControlHandlers,
  parts: Pick<ServeParts, "watching" | "peers" | "head" | "secrets">,
): Promise<Control> {
  return serveControl({ ...parts, config, handlers, pid: Deno.pid, receiptKey: publicKey });
}

/** The last intact seal, kept in the kernel's own folder. An unreadable file counts as none. */
function checkedFile(path: string): LogCareParts["checked"] {
  return Object.freeze({
    async read(): Promise<CheckedSeal | undefined> {
      const bytes = await disk.read(path);
      const [seq = "", hash = ""] = new TextDecoder().decode(bytes).trim().split(" ");
      const digest = Digest.safeParse(hash);
      return /^[1-9]\d{0,14}$/.test(seq) && digest.success
        ? { seq: Number(seq), hash: digest.data }
        : undefined;
    },
    write: ({ seq, hash }: CheckedSeal) =>
      disk.write(path, new TextEncoder().encode(`${seq} ${hash}\n`)),
  });
}
