/** Powers of serving for tests without a gateway's process. @module */
import { Fault } from "../../contracts/base/mod.ts";
import type { ServePowers } from "../mcp_serve/gateway_process.ts";

/** No gateway starts, and no process is at the other end of the pipe. */
export const NO_GATEWAY: ServePowers = Object.freeze<ServePowers>({
  start: () =>
    Promise.reject(new Fault("unavailable", "Cannot start the gateway: there is none here")),
  async *input(): AsyncIterable<string> {},
  output: () => undefined,
  pause: () => Promise.resolve(),
  secret: () => "A".repeat(43),
});
