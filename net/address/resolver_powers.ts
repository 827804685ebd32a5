/** The system's name servers, asked by ourselves. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Resolver } from "./resolver.ts";

/** Whom to ask instead of the servers of /etc/resolv.conf. */
export interface ResolverOptions {
  readonly nameServer?: { readonly ipAddr: string; readonly port: number };
}

/**
 * Makes a resolver that asks name servers for A and AAAA records and keeps nothing. Where
 * /etc/hosts can be read Deno looks there first: the net service's namespace does not hold it.
 */
export function makeSystemResolver(options: ResolverOptions = {}): Resolver {
  return Object.freeze<Resolver>({
    async resolve(host: string, signal: AbortSignal): Promise<readonly string[]> {
      // With its dot a name is whole: no search domain of the machine is put behind it.
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
