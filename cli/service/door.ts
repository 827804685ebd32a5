/** What a running service does for commands at other terminals of the same user. @module */
import { Fault, type Json } from "../../contracts/mod.ts";
import type { RunningService } from "./running_service.ts";

/** Serves the door: `login` `null` → `{ url }`, `state` `null` → `{ url, ready, why }`. */
export function serviceDoor(
  { service, url }: {
    readonly service: Pick<RunningService, "loginCode" | "unready">;
    url(): string;
  },
): (op: string, body: Json) => Promise<Json> {
  return (op) => {
    switch (op) {
      case "login": {
        const code = service.loginCode();
        if (code === undefined) {
          throw new Fault("unavailable", "Cannot log in: this service serves no page");
        }
        return Promise.resolve({ url: `${url()}/login?code=${encodeURIComponent(code)}` });
      }
      case "state": {
        const why = service.unready();
        return Promise.resolve({ url: url(), ready: why === undefined, why: why ?? "" });
      }
      default:
        throw new Fault("invalidInput", `Cannot do "${op.slice(0, 32)}": unknown to a service`);
    }
  };
}
