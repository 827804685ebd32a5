/** Powers of a service for tests without one. @module */
import type { ServicePowers } from "../service/powers.ts";

/** The lock is free, no server listens, no time passes. */
export const NO_SERVICE_HANDS: ServicePowers = Object.freeze<ServicePowers>({
  lock: () => ({ [Symbol.dispose]: () => undefined }),
  door: () => ({ [Symbol.dispose]: () => undefined }),
  askService: () => Promise.resolve(undefined),
  after: () => () => undefined,
  hangup: () => () => undefined,
  random: () => 0.5,
});
