/** Which package registry the operator uses: npm's own settings, read and never written. @module */
import { join } from "node:path";
import { Fault } from "../../../contracts/mod.ts";
import type { Around, DiskRead } from "../../hands.ts";

/** What npm is told in this home. */
export interface Registry {
  /** Absent: the one that Deno and npm use by themselves. */
  readonly url: string | undefined;
  /** Scopes (`@corp`) that have a registry of their own. */
  readonly scopes: ReadonlySet<string>;
}

const LONGEST = 100_000;

/** NPM_CONFIG_REGISTRY, else the line `registry=` of ~/.npmrc. Throws `invalidInput` for what is no address. */
export function readRegistry(disk: Pick<DiskRead, "read">, around: Pick<Around, "env">): Registry {
  const home = around.env("HOME");
  const bytes = home === undefined ? undefined : disk.read(join(home, ".npmrc"));
  const text = bytes === undefined ? "" : new TextDecoder().decode(bytes.subarray(0, LONGEST));
  const scopes = new Set<string>();
  let said: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    const [, key = "", value = ""] = /^\s*([^#;=\s][^=\s]*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key === "registry") said = value.replace(/^(["'])(.*)\1$/, "$2");
    const [, scope] = /^(@[^:]+):registry$/.exec(key) ?? [];
    if (scope !== undefined) scopes.add(scope);
  }
  const asked = around.env("NPM_CONFIG_REGISTRY") ?? around.env("npm_config_registry") ?? said;
  return { url: asked === undefined || asked === "" ? undefined : parseRegistry(asked), scopes };
}

function parseRegistry(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const wrong = (why: string): Fault =>
    new Fault("invalidInput", `Cannot use the npm registry of this home: ${why}`);
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw wrong("it is no http address");
  // The address goes into remit.lock and into an environment.
  if (url.username !== "" || url.password !== "" || url.search !== "") {
    throw wrong("its address holds a name, a password or a query");
  }
  return url.href.length > 1_024
    ? (() => {
      throw wrong("its address is too long");
    })()
    : url.href;
}

/** Throws `unavailable` where a package would have to come from a registry of its scope's own: fetched from elsewhere it would be another package. */
export function refuseScoped(name: string, { scopes }: Pick<Registry, "scopes">): void {
  const [scope = ""] = name.split("/");
  if (!name.startsWith("@") || !scopes.has(scope)) return;
  throw new Fault(
    "unavailable",
    `Cannot fetch "${name}": ~/.npmrc names a registry for ${scope} alone, which is not supported here`,
  );
}
