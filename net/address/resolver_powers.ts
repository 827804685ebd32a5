/** Asks the system's name servers directly. Used by net/main.ts and cli/main.ts. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Resolver } from "./resolver.ts";

/** A name server to ask instead of those in /etc/resolv.conf. */
export interface ResolverOptions {
  readonly nameServer?: { readonly ipAddr: string; readonly port: number };
}

/**
 * Makes a resolver that asks name servers for A and AAAA records and caches nothing. Deno first
 * reads /etc/hosts where it can; the net service's namespace does not contain that file.
 */
export function makeSystemResolver(options: ResolverOptions = {}): Resolver {
  return Object.freeze<Resolver>({
    async resolve(host: string, signal: AbortSignal): Promise<readonly string[]> {
      // A trailing dot makes the name absolute: the machine's search domains are not appended.
      const whole = `${host}.`;
      const [a, aaaa] = await Promise.allSettled([
        Deno.resolveDns(whole, "A", { ...options, signal }),
        Deno.resolveDns(whole, "AAAA", { ...options, signal }),
      ]);
      signal.throwIfAborted();
      const found = [a, aaaa].flatMap((each) => each.status === "fulfilled" ? each.value : []);
      if (found.length > 0) return found;
      const none = [a, aaaa].every((each) =>
        each.status === "fulfilled" || each.reason instanceof Deno.errors.NotFound
      );
      const name = JSON.stringify(host);
      if (none) throw new Fault("notFound", `Cannot resolve ${name}: it has no address`);
      throw new Fault("unavailable", `Cannot resolve ${name}: no name server answers`);
    },
  });
}
