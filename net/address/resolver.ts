/** Resolves names to addresses. @module */
import { Fault } from "../../contracts/base/fault.ts";

/** Resolves one host name. */
export interface Resolver {
  /**
   * All current addresses of `host`, IPv4 and IPv6. Nothing is cached.
   * @throws {Fault} `notFound`, `unavailable`, or the signal's reason
   */
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]>;
}

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const NAME_LENGTH = 253;

/**
 * A resolver that answers for `localhost` and names beneath it without a name server (RFC 6761),
 * and passes on only valid host names.
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
