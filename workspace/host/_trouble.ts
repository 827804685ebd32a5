/** File troubles as faults that name `MOUNT/relative` and nothing of the machine. @module */
import { Fault } from "../../contracts/fault.ts";
import { FsTrouble } from "./files.ts";

/** Runs `operation`; a file trouble in it becomes a fault that says `Cannot <verb> "<name>": …`. */
export function about<T>(verb: string, name: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    throw faultOf(error, verb, name);
  }
}

/** Turns a file trouble into a fault; anything else is returned as it is. */
export function faultOf(error: unknown, verb: string, name: string): unknown {
  if (!(error instanceof FsTrouble)) return error;
  const cannot = `Cannot ${verb} "${name}":`;
  switch (error.code) {
    case "notFound":
      return new Fault("notFound", `${cannot} it does not exist`, { cause: error });
    case "denied":
      return new Fault(
        "refused",
        `${cannot} no live lease covers it, or its owner and mode keep this user out`,
        { cause: error },
      );
    case "noSpace":
      return new Fault("storeFull", `${cannot} no space is left on the disk`, { cause: error });
    case "exists":
      return new Fault("conflict", `${cannot} something else is there now`, { cause: error });
    case "notFolder":
      return new Fault("invalidArguments", `${cannot} a part of it is not a folder`, {
        cause: error,
      });
    case "other":
      return new Fault("upstream", `${cannot} the file system failed`, { cause: error });
  }
}
