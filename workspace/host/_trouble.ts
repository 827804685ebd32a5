/**
 * Turns file troubles into faults that name `MOUNT/relative` and nothing of the machine. @module
 */
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import { FsTrouble, type TroubleCode } from "./files.ts";

/** Runs `operation`; a file trouble becomes a fault `Cannot <verb> "<name>": …`. */
export function about<T>(verb: string, name: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    throw faultOf(error, verb, name);
  }
}

/** Turns a file trouble into a fault; returns any other error unchanged. */
export function faultOf(error: unknown, verb: string, name: string): unknown {
  if (!(error instanceof FsTrouble)) return error;
  const [code, why] = WORDS[error.code];
  return new Fault(code, `Cannot ${verb} "${name}": ${why}`, { cause: error });
}

const WORDS: Readonly<Record<TroubleCode, readonly [FaultCode, why: string]>> = {
  notFound: ["notFound", "it does not exist"],
  denied: ["refused", "no call under way has a lease that covers it"],
  closed: ["refused", "its owner and mode keep this user out"],
  noSpace: ["storeFull", "no space is left on the disk"],
  readOnly: ["refused", "its file system is read-only"],
  exists: ["conflict", "something else is there now"],
  notFolder: ["invalidArguments", "a part of it is not a folder"],
  tooLong: ["invalidArguments", "its name is too long for the file system"],
  loop: ["refused", "its links lead in a circle"],
  broken: ["upstream", "its disk, or the machine that it lies on, does not answer"],
  other: ["upstream", "the file system failed"],
};
