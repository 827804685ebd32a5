/** Names to addresses. @module */
import { Fault } from "../../contracts/base/fault.ts";

/** Resolves one host name: the power behind it. */
export interface Resolver {
  /**
   * Every address that `host` has now, IPv4 and IPv6. Nothing is kept.
   * @throws {Fault} `notFound`, `unavailable`, or the signal's reason.
   */
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]>;
}

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const NAME_LENGTH = 253;

/**
 * A resolver that answers for `localhost` and names beneath it by itself (RFC 6761) and hands on
 * only what is a host name.
 */
export function resolvingNames(resolver: Resolver): Resolver {
  return Object.freeze<Resolver>({
    async resolve(host: string, signal: AbortSignal): Promise<readonly string[]> {
      const name = host.endsWith(".") ? host.slice(0, -1) : host;
      const labels = name.split(".");
      if (name.length > NAME_LENGTH || !labels.every((label) => LABEL.test(label))) {
        throw new Fault("refused", `Cannot resolve ${JSON.stringify(host)}: not a host name`);
      }
      if (labels.at(-1) === "localhost") return ["127.0.0.1", "::1"];
      return await resolver.resolve(name, signal);
    },
  });
}
