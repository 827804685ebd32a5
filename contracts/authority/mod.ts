/**
 * Ids, colours, leases, questions, gate decisions and receipts.
 *
 * @example
 * ```ts
 * import { mixColour } from "./mod.ts";
 * if (mixColour("BLUE", "RED") !== "RED") throw new Error("colours mix wrongly");
 * ```
 * @module
 */
export * from "./ids.ts";
export * from "./colour.ts";
export * from "./lease.ts";
export * from "./receipt.ts";
export * from "./gate.ts";
export * from "./question.ts";
export * from "./export_claims.ts";
