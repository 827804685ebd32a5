/** Turns a wish into a launch that can be contained: fetched, or found on this machine. @module */
import { Fault } from "../../../../contracts/base/mod.ts";
import { McpLaunch } from "../../../../contracts/exchange/mod.ts";
import type { RegistryPowers } from "../store/store.ts";
import { fetchNpm, type ProvidedLaunch } from "./npm.ts";
import { fetchPython, runWithUv } from "./python.ts";
import type { McpWish } from "../launch.ts";
import { programLaunch } from "./program.ts";

export type { ProvidedLaunch } from "./npm.ts";

/**
 * Fetches or finds the program of a wish. Headers of a URL are not part of a launch: the caller
 * keeps them.
 *
 * @throws Fault `refused` for what cannot be contained; `notFound`, `unavailable`, `timedOut`,
 * `tooLarge`
 */
export async function provideLaunch(
  powers: RegistryPowers,
  wish: McpWish,
): Promise<ProvidedLaunch> {
  switch (wish.kind) {
    case "npm":
      return await fetchNpm(powers, wish);
    case "python":
      return await fetchPython(powers, wish);
    case "uvRun":
      return await runWithUv(powers, wish);
    case "program":
      return await programLaunch(powers, wish);
    case "http": {
      const launch = McpLaunch.safeParse({ kind: "http", url: wish.url });
      if (launch.success) return { launch: launch.data, packages: [], notes: [] };
      throw new Fault("invalidInput", "Cannot use that address: it is too long");
    }
    case "refused":
      throw new Fault("refused", `Cannot contain it: ${wish.why}`);
  }
}
