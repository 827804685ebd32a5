/** A port over a child of `node:child_process`, for tests and benches of the port alone. @module */
import type { ChildProcess } from "node:child_process";
import type { Port, PortHandler, PortLimits } from "../../contracts/base/port.ts";
import { makePort } from "../port.ts";

/** Joins a port to a child's piped stdin and stdout. The port closes when the child's output ends. */
export function portOverChild(
  child: ChildProcess,
  { handler, limits = {} }: { handler: PortHandler; limits?: Partial<PortLimits> },
): Port {
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) {
    throw new TypeError("Cannot open port: the child's stdin and stdout are not piped");
  }
  const port = makePort({
    ...{ handler, limits },
    now: () => performance.now(),
    write: (bytes) => void stdin.write(bytes),
  });
  stdout.on("data", port.feed);
  stdout.on("end", () => port.close("the child ended"));
  stdin.on("error", (error) => port.close(`it takes no input (${error.message})`));
  void port.closed.then(() => {
    stdout.off("data", port.feed);
    // Continues reading: a child must not hang in a write while it is being ended.
    stdout.resume();
    stdin.end();
  });
  return port;
}
