/** A kernel over a damaged log: it verifies and repairs on command, and does nothing else. @module */
import { type Digest, Fault } from "../../contracts/mod.ts";
import { CONTROL_OPS } from "./control_ops.ts";
import type { ControlHandlers } from "./control.ts";

/** What {@link damagedHandlers} is handed. */
export interface MaintenanceParts {
  readonly damage: Fault;
  verify(head: Digest | undefined): Promise<object>;
  repair(): Promise<object>;
  stop(): void;
}

/** Handlers that refuse everything but `auditVerify`, `auditRepair` and `stop`. */
export function damagedHandlers(parts: MaintenanceParts): ControlHandlers {
  const refuse = (): never => {
    throw new Fault(
      "storeCorrupt",
      `${parts.damage.message}. Nothing runs over a damaged log: see "remit audit verify", then "remit audit repair"`,
    );
  };
  const all = Object.fromEntries(Object.keys(CONTROL_OPS).map((op) => [op, refuse]));
  return Object.freeze({
    ...all as unknown as ControlHandlers,
    auditVerify: ({ head }: { head?: Digest | undefined }) => parts.verify(head),
    auditRepair: () => parts.repair(),
    stop: () => parts.stop(),
  });
}
