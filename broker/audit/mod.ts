/**
 * The event log: chained, sealed, checked, exported, and the receipts and records read from it.
 *
 * @example
 * ```ts
 * import { LOG_POWERS, makeSigner, openLog, verifyLog } from "./mod.ts";
 * import { openSqliteStore } from "../../store/sqlite/mod.ts";
 * const store = openSqliteStore({ path: `${Deno.makeTempDirSync()}/log.db` });
 * const signer = makeSigner(LOG_POWERS.random(32));
 * const log = await openLog({ store, signer, ...LOG_POWERS });
 * await log.append("t000000000000", [{ kind: "taskCreated", body: { profile: "operator" } }]);
 * const report = await verifyLog({ store, publicKey: signer.publicKey, head: log.head() });
 * if (!report.ok || report.tail !== "intact") throw new Error("the log is not intact");
 * await store.close();
 * ```
 * @module
 */
export { GENESIS, hashEvent } from "./seal.ts";
export { type LogPowers, openLog } from "./log.ts";
export { KEY_POWERS, LOG_POWERS } from "./log_powers.ts";
export { readPrivate } from "./private.ts";
export { loadOrMakeReceiptKey, makeSignatureCheck, makeSigner } from "./signer.ts";
export type { VerifyOptions, VerifyReport } from "./verifier.ts";
export { verifyChain, verifyFrom, verifyLog } from "./verify.ts";
export { exportLog, readLines, verifyExport, verifyLines } from "./lines.ts";
export { repairTail } from "./repair.ts";
export { exportReceipts, verifyReceipt } from "./receipts.ts";
export { auditRecords, type RecordFilter } from "./records.ts";
