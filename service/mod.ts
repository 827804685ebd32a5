/**
 * A service that runs without a terminal: keeps the gateway process running, and handles its
 * requests. Its parts are folders with their own doors: `hosts/` (MCP), `peer/` (A2A), `trigger/`,
 * `trace/`, `backup/`; the gateway's own process is `gateway/`. docs/service.md.
 *
 * @example
 * ```ts
 * import { keepGateway, type StartedGateway } from "./mod.ts";
 * const serve = (started: StartedGateway) =>
 *   keepGateway({
 *     open: {
 *       ...{ transport: "http", hosts: [], origins: [], version: "1" },
 *       listen: { hostname: "127.0.0.1", port: 7_433 },
 *     },
 *     start: () => Promise.resolve(started),
 *     ...{ after: () => () => undefined, now: () => 0, note: () => undefined },
 *   });
 * if (typeof serve !== "function") throw new Error("nothing serves");
 * ```
 * @module
 */
export { type GatewayLink, keepGateway, type StartedGateway } from "./gateway_keeper.ts";
export {
  type RunningService,
  serviceDoor,
  type ServiceParts,
  startService,
} from "./running_service.ts";
