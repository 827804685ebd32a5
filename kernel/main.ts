/** The kernel process: takes its folder, opens its log, and serves; a damaged log it serves for mending alone. @module */
import { type ContentTrust, Fault, type KernelConfig } from "../contracts/mod.ts";
import { openLog, readPrivate, repairTail, verifyChain, verifyLog } from "../broker/audit/mod.ts";
import { KEY_POWERS, LOG_POWERS } from "../broker/audit/log_powers.ts";
import { loadOrMakeReceiptKey } from "../broker/audit/signer.ts";
import type { Control, ControlHandlers } from "./control/control.ts";
import { type IdleWatch, makeIdleWatch } from "./control/idle.ts";
import { disk, exit, note, onTerminate, readConfigLine, realPowers } from "./main_powers.ts";
import { damagedHandlers } from "./control/maintenance.ts";
import { makeLogCare } from "./log/care.ts";
import { makeMending } from "./log/mend.ts";
import { openContents } from "./log/contents.ts";
import { openStore } from "./log/open_store.ts";
import { NO_PEERS } from "./peer/peer_ops.ts";
import { serveControl, type ServeParts } from "./serve_control.ts";
import { NOTHING_TO_WATCH } from "./log/watch.ts";
import { work } from "./main_work.ts";

// TRUST: init is the operator's own program, and wrote this line.
const config = JSON.parse(await readConfigLine()) as KernelConfig;
const powers = realPowers(config.failpoint);
if (!await disk.lock(`${config.dir}/lock`)) {
  note(`Cannot start: another kernel has ${config.dir}`);
  exit(3);
}
const database = `${config.dir}/remit.db`;
const { store, damage } = openStore(database, (why) => {
  note(why);
  return exit(1);
});
const signer = await loadOrMakeReceiptKey({
  powers: KEY_POWERS,
  path: `${config.dir}/receipt_key`,
});
const damaged = disk.flag(`${config.dir}/damaged`);
const care = makeLogCare({
  ...{ store, damage },
  verify: (head) =>
    verifyLog({ store, publicKey: signer.publicKey, ...(head === undefined ? {} : { head }) }),
  verifyChain: (task) => verifyChain(store, task),
  note: damaged,
});
const end = { now: (): void => exit(0) };
onTerminate(() => end.now());

try {
  await care.check();
  const plainLog = await openLog({ store, signer, ...LOG_POWERS, now: powers.now });
  const receiptKey = signer.publicKey;
  const contents = await provideContents();
  await work({
    config,
    powers,
    store,
    contents,
    plainLog,
    receiptKey,
    care,
    end,
    serve,
    idleUnless,
  });
} catch (error) {
  if (!(error instanceof Fault) || error.code !== "storeCorrupt") throw error;
  note(error.message);
  const repair = makeMending({
    ...{ store, database, note: damaged, now: powers.now },
    copyTo: (fresh, how) => repairTail({ store, fresh, signer, ...LOG_POWERS, ...how }),
    mended: () => void powers.after(100, () => end.now()),
  });
  const control = await serve(
    damagedHandlers({ damage: error, verify: care.verify, repair, stop: () => end.now() }),
    { head: () => "", watching: NOTHING_TO_WATCH, peers: NO_PEERS },
  );
  idleUnless(() => control.connections() > 0).start();
}

/** What is known of contents. Without it no task can be trusted to read: this process ends. */
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

/** Ends this process once it has had nothing to do for long enough. */
function idleUnless(busy: () => boolean): IdleWatch {
  const { idleMs, stay } = config;
  return makeIdleWatch({ powers, idleMs, stay, busy, end: () => end.now() });
}

/** Serves the control socket. */
function serve(
  handlers: ControlHandlers,
  parts: Pick<ServeParts, "watching" | "peers" | "head">,
): Promise<Control> {
  return serveControl({ ...parts, config, handlers, pid: Deno.pid, receiptKey: signer.publicKey });
}
