/** Powers of a login for tests without a network. @module */
import { Fault } from "../../contracts/base/mod.ts";
import type { LoginPowers } from "../../bridges/mcp/registry/login/login.ts";

/** No net service starts. */
export const NO_LOGIN: LoginPowers = Object.freeze<LoginPowers>({
  start: () => Promise.reject(new Fault("unavailable", "Cannot log in: there is no network here")),
  listen: () => {
    throw new Fault("unavailable", "Cannot log in: there is no network here");
  },
  random: () => "A".repeat(43),
  after: () => () => undefined,
});
