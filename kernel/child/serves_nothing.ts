import { Fault } from "../../contracts/fault.ts";
import type { PortHandler } from "../../contracts/port.ts";

/** The kernel's side of a child that was handed nothing: whatever it asks is refused. */
export const SERVES_NOTHING: PortHandler = Object.freeze<PortHandler>({
  ask(op: string): never {
    throw new Fault("unknownCapability", `Cannot serve "${op.slice(0, 64)}": not handed over`);
  },
  tell: () => undefined,
});
