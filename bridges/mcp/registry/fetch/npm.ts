/** Fetches an npm package and its dependencies into a tree; no script of a package runs. @module */
import { join, posix } from "node:path";
import { Fault } from "../../../../contracts/base/mod.ts";
import { McpLaunch } from "../../../../contracts/exchange/mod.ts";
import { displayText } from "../../../../text/mod.ts";
import type { RegistryPowers } from "../store/store.ts";
import { type FetchedLock, readDenoLock, unverifiedNotes, withFacts } from "./npm_facts.ts";
import type { LockedPackage } from "../lock.ts";
import { provideWarm, sweepDrafts } from "../store/sweep.ts";
import { FETCH_MS, type FetchStep, type FetchStepEnd, type McpStore } from "../store/store.ts";
import type { DiskRead, Environment } from "../../../../launch/disk/machine.ts";
import * as z from "zod";

/** A wish for an npm package. */
export interface NpmWish {
  /** `@scope/name` or `name`. */
  readonly package: string;
  /** A version, a range or a tag; `latest` by default. */
  readonly wanted: string;
  /** The package's program; absent: its only one, or the one with its name. */
  readonly bin?: string | undefined;
  readonly args: readonly string[];
}

/** A launch with the packages behind it. */
export interface ProvidedLaunch {
  readonly launch: McpLaunch;
  readonly packages: readonly LockedPackage[];
  /** Sentences for a person; names of packages in them are escaped. */
  readonly notes: readonly string[];
}

/** The tree's path in a namespace, while fetching and while running. */
const TREE_AT = "/dd";
const DENO_AT = "/deno";

/**
 * Resolves a package's version and fetches it with its dependencies.
 *
 * @throws Fault `notFound`, `unavailable` (offline, no bubblewrap), `timedOut`, `tooLarge`,
 * `refused` for what cannot be contained
 */
export async function fetchNpm(powers: RegistryPowers, wish: NpmWish): Promise<ProvidedLaunch> {
  const { store, disk, environment, places } = powers;
  const registry = readRegistry(disk, environment);
  refuseScoped(wish.package, registry);
  sweepDrafts(powers);
  const draft = store.draft(places.mcpTrees);
  try {
    const lock = await resolve(store, disk, { wish, registry, draft });
    for (const { name } of lock.packages) refuseScoped(name, registry);
    const bin = findBin(disk, draft, { ...wish, version: lock.version });
    const notes = notesOf(lock, store.files(draft));
    const made = { wish, registry, draft };
    const [packages] = await Promise.all([
      factsOf(powers, lock, made),
      settle(store, disk, { ...made, lock, bin }),
    ]);
    const tree = store.keep(draft, { trees: places.mcpTrees, prefix: "npm" });
    provideWarm(disk, places, tree);
    const launch = McpLaunch.parse({
      ...{ kind: "npm", package: wish.package, version: lock.version, bin },
      ...{ args: wish.args, tree },
      ...(registry.url === undefined ? {} : { registry: registry.url }),
    });
    return { launch, packages, notes: [...notes, ...unverifiedNotes(packages)] };
  } catch (error) {
    store.drop(draft);
    throw error;
  }
}

interface Made {
  readonly wish: NpmWish;
  readonly registry: Registry;
  readonly draft: string;
}

function step(deno: string, { registry, draft }: Made, args: readonly string[]): FetchStep {
  return {
    program: DENO_AT,
    args,
    env: {
      ...{ DENO_DIR: TREE_AT, HOME: "/tmp", NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
      DENO_TLS_CA_STORE: "mozilla,system",
      ...(registry.url === undefined ? {} : { NPM_CONFIG_REGISTRY: registry.url }),
    },
    reads: [{ from: deno, at: DENO_AT }],
    writes: { from: draft, at: TREE_AT },
    net: false,
    deadlineMs: FETCH_MS,
  };
}

const CACHE = [
  ...["cache", "--quiet", "--no-config", "--node-modules-dir=none"],
  `--lock=${TREE_AT}/deno.lock`,
];

type Disk = RegistryPowers["disk"];

async function factsOf(
  powers: RegistryPowers,
  { packages }: FetchedLock,
  made: Made,
): Promise<readonly LockedPackage[]> {
  const { store, disk } = powers;
  // Deno names the folder after the registry's host, so the default registry need not be known
  // here.
  const [host = ""] = disk.list(join(made.draft, "npm"));
  const registry = made.registry.url ?? `https://${host}/`;
  return await withFacts(powers, packages, {
    ...{ denoAt: DENO_AT, env: step(store.deno, made, []).env },
    registry: registry.endsWith("/") ? registry : `${registry}/`,
    ownKeys: made.registry.url !== undefined,
  });
}

async function resolve(store: McpStore, disk: Disk, made: Made): Promise<FetchedLock> {
  const { wish, draft } = made;
  const asked = { name: wish.package, wanted: wish.wanted };
  const end = await store.step({
    ...step(store.deno, made, [...CACHE, `npm:${asked.name}@${asked.wanted}`]),
    net: true,
  });
  if (end.code !== 0) throw whyNot(asked, end);
  const path = join(draft, "deno.lock");
  const lock = readDenoLock(new TextDecoder().decode(disk.read(path) ?? new Uint8Array()), asked);
  disk.write(path, lock.text);
  return lock;
}

/** Removes from the tree what its lock does not name, and checks offline that the rest suffices. */
async function settle(
  store: McpStore,
  disk: Disk,
  made: Made & { readonly lock: FetchedLock; readonly bin: string },
): Promise<void> {
  const { draft, wish, lock, bin } = made;
  const prune = (): void => {
    for (const { path } of store.files(draft)) if (!isKept(path)) disk.remove(join(draft, path));
  };
  prune();
  const end = await store.step(step(store.deno, made, [
    ...[...CACHE, "--frozen"],
    `npm:${wish.package}@${lock.version}/${bin}`,
  ]));
  if (end.code !== 0) throw whyNot({ name: wish.package, wanted: lock.version }, end);
  prune();
}

/**
 * Whether a path is the lock or a file of a package. Deno's caches and the registry's list of
 * versions (`npm/HOST/NAME/registry.json`) are not needed and differ between fetches of the same
 * version.
 */
function isKept(path: string): boolean {
  const [top, , first = "", ...rest] = path.split("/");
  return path === "deno.lock" || (top === "npm" && rest.length > (first.startsWith("@") ? 2 : 1));
}

function notesOf(lock: FetchedLock, files: readonly { readonly path: string }[]): string[] {
  const native = files.filter(({ path }) => path.endsWith(".node")).map(({ path }) =>
    ownerOf(path)
  );
  const scripts = lock.packages.filter((each) => each.scripts).map(({ name }) => name);
  const deprecated = lock.packages.filter((each) => each.deprecated)
    .map(({ name, version }) => `${name}@${version}`);
  return [
    ...note(native, "brings native code, which is never loaded here"),
    ...note(scripts, "asks to run a program when it is installed, which was not done"),
    ...note(deprecated, "is deprecated by its author"),
  ];
}

function note(names: readonly string[], says: string): string[] {
  return [...new Set(names)].slice(0, 8).map((name) =>
    `${displayText(name, { max: 200 })} ${says}`
  );
}

function ownerOf(path: string): string {
  const [, , first = "", second = ""] = path.split("/");
  return first.startsWith("@") ? `${first}/${second}` : first;
}

/** The fault of a failed fetch. Deno's output is untrusted: packages choose names in it. */
function whyNot(asked: { name: string; wanted: string }, { said, code }: FetchStepEnd): Fault {
  const about = `Cannot fetch "${asked.name}@${displayText(asked.wanted, { max: 128 })}"`;
  if (/does not exist|404|not found/i.test(said)) {
    return new Fault("notFound", `${about}: the registry has no such package`);
  }
  if (/Could not find npm package .* matching/.test(said)) {
    return new Fault("notFound", `${about}: the registry has no such version`);
  }
  if (
    /error sending request|dns error|client error \(Connect\)|tcp connect|timed out/i.test(said)
  ) {
    return new Fault(
      "unavailable",
      `${about}: the registry cannot be reached; is this machine online?`,
    );
  }
  if (/checksum|integrity/i.test(said)) {
    return new Fault(
      "refused",
      `${about}: an archive is not the one that the registry describes (its integrity is another)`,
    );
  }
  const line = said.split("\n").find((each) => each.trim() !== "") ?? `deno ended with ${code}`;
  return new Fault(
    "upstream",
    `${about}: ${displayText(line.replace(/^error: /, ""), { max: 300 })}`,
  );
}

const MAX_MANIFEST_BYTES = 1_000_000;
const NAME = /^[A-Za-z0-9._-]{1,128}$/;

const Manifest = z.looseObject({
  name: z.string().max(214),
  bin: z.union([z.string().max(1_024), z.record(z.string().max(256), z.string().max(1_024))])
    .optional(),
});

interface BinWish {
  readonly package: string;
  readonly version: string;
  readonly bin?: string | undefined;
}

/** The folder of a package in a tree; undefined when it is not there. */
function packageFolder(
  disk: Pick<DiskRead, "list" | "stat">,
  tree: string,
  wish: Pick<BinWish, "package" | "version">,
): string | undefined {
  // There is one folder for each registry, and one registry.
  return disk.list(join(tree, "npm"))
    .map((host) => join(tree, "npm", host, wish.package, wish.version))
    .find((folder) => disk.stat(folder)?.folder === true);
}

/**
 * Finds a package's program as npx does: the named one, the only one, or the one with the package's
 * name.
 *
 * @throws Fault `refused` for a package without programs, with several, or whose program is not
 * JavaScript
 */
function findBin(disk: DiskRead, tree: string, wish: BinWish): string {
  const refused = (why: string): Fault =>
    new Fault("refused", `Cannot run "${wish.package}": ${why}`);
  const folder = packageFolder(disk, tree, wish);
  const bytes = folder === undefined ? undefined : disk.read(join(folder, "package.json"));
  if (folder === undefined || bytes === undefined || bytes.length > MAX_MANIFEST_BYTES) {
    throw refused("it has no package.json that can be read");
  }
  const bins = readBins(bytes, wish.package);
  if (bins === undefined) throw refused("its package.json is damaged");
  const names = [...bins.keys()];
  const own = wish.package.split("/").at(-1) ?? "";
  const oneFile = new Set(bins.values()).size === 1;
  const name = wish.bin ?? (oneFile ? names[0] : names.find((each) => each === own));
  if (name === undefined) {
    throw names.length === 0 ? refused("it has no program") : refused(
      `it has several programs; name one: npx -p ${wish.package} NAME, of ${
        names.slice(0, 8).map((each) => displayText(each, { max: 64 })).join(", ")
      }`,
    );
  }
  const file = bins.get(name);
  if (file === undefined || !NAME.test(name)) {
    throw refused(`it has no program "${displayText(name)}"`);
  }
  const path = join(folder, file);
  // The package chose the path: it must lead to a file of the package.
  if (!`${disk.real(path) ?? ""}/`.startsWith(`${disk.real(folder) ?? folder}/`)) {
    throw refused(`its program "${name}" is not there`);
  }
  const start = new TextDecoder().decode((disk.read(path) ?? new Uint8Array()).subarray(0, 256));
  if (!isScript(file, start)) throw refused(`its program "${name}" is not JavaScript`);
  return name;
}

function readBins(bytes: Uint8Array, name: string): ReadonlyMap<string, string> | undefined {
  let read: unknown;
  try {
    read = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
  const parsed = Manifest.safeParse(read);
  if (!parsed.success) return undefined;
  const { bin = {} } = parsed.data;
  const own = name.split("/").at(-1) ?? name;
  const entries = typeof bin === "string" ? [[own, bin] as const] : Object.entries(bin);
  return new Map(entries.map(([key, file]) => [key, posix.normalize(file)]));
}

/** Whether a file is a script, by its ending or its first line. */
function isScript(file: string, start: string): boolean {
  if (/\.[cm]?[jt]s$/.test(file)) return true;
  return /^#!.*\b(?:node|deno|bun)\b/.test(start);
}

/** npm's settings in this home. */
interface Registry {
  /** Undefined: the default registry. */
  readonly url: string | undefined;
  /** Scopes such as `@corp` that have a registry of their own. */
  readonly scopes: ReadonlySet<string>;
}

const MAX_NPMRC_BYTES = 100_000;

/** Reads NPM_CONFIG_REGISTRY, else `registry=` in ~/.npmrc. Throws `invalidInput` for a wrong address. */
export function readRegistry(
  disk: Pick<DiskRead, "read">,
  environment: Pick<Environment, "env">,
): Registry {
  const home = environment.env("HOME");
  const bytes = home === undefined ? undefined : disk.read(join(home, ".npmrc"));
  const text = bytes === undefined
    ? ""
    : new TextDecoder().decode(bytes.subarray(0, MAX_NPMRC_BYTES));
  const scopes = new Set<string>();
  let said: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    const [, key = "", value = ""] = /^\s*([^#;=\s][^=\s]*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key === "registry") said = value.replace(/^(["'])(.*)\1$/, "$2");
    const [, scope] = /^(@[^:]+):registry$/.exec(key) ?? [];
    if (scope !== undefined) scopes.add(scope);
  }
  const asked = environment.env("NPM_CONFIG_REGISTRY") ?? environment.env("npm_config_registry") ??
    said;
  return { url: asked === undefined || asked === "" ? undefined : parseRegistry(asked), scopes };
}

function parseRegistry(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const wrong = (why: string): Fault =>
    new Fault("invalidInput", `Cannot use the npm registry of this home: ${why}`);
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw wrong("it is no http address");
  // The address is written to remit.lock and into an environment.
  if (url.username !== "" || url.password !== "" || url.search !== "") {
    throw wrong("its address holds a name, a password or a query");
  }
  if (url.href.length > 1_024) throw wrong("its address is too long");
  return url.href;
}

/** Throws `unavailable` for a scope with its own registry: elsewhere the name is another package. */
function refuseScoped(name: string, { scopes }: Pick<Registry, "scopes">): void {
  const [scope = ""] = name.split("/");
  if (!name.startsWith("@") || !scopes.has(scope)) return;
  throw new Fault(
    "unavailable",
    `Cannot fetch "${name}": ~/.npmrc names a registry for ${scope} alone, which is not supported here`,
  );
}
