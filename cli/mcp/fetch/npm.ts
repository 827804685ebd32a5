/** Fetches an npm package with all it needs into a tree: no script of a package runs. @module */
import { join } from "node:path";
import { Fault, McpLaunch } from "../../../contracts/mod.ts";
import { displayText } from "../../../text/mod.ts";
import type { Command } from "../../command.ts";
import { findBin, type NpmBin } from "./npm_bin.ts";
import { unverifiedNotes, withFacts } from "./npm_facts.ts";
import { type FetchedLock, readDenoLock } from "./npm_lock.ts";
import { readRegistry, refuseScoped, type Registry } from "./npm_registry.ts";
import type { LockedPackage } from "../lock/lock.ts";
import { sweepDrafts } from "../store/sweep.ts";
import { provideWarm } from "../store/warm.ts";
import { FETCH_MS, type FetchStep, type FetchStepEnd, type McpStoreHands } from "../store/hands.ts";

/** What is asked for. */
export interface NpmWish {
  /** `@scope/name` or `name`. */
  readonly package: string;
  /** A version, a range or a tag; `latest` where nothing was said. */
  readonly wanted: string;
  /** Which of its programs; absent: its only one, or the one of its own name. */
  readonly bin?: string | undefined;
  readonly args: readonly string[];
}

/** What came of it. */
export interface ProvidedLaunch {
  readonly launch: McpLaunch;
  readonly packages: readonly LockedPackage[];
  /** What a person should know, a sentence each; names of packages are in it, made safe. */
  readonly notes: readonly string[];
}

/** Where a tree lies within a namespace, at fetching and at running. */
const TREE_AT = "/dd";
const DENO_AT = "/deno";

/**
 * Resolves and fetches.
 *
 * @throws Fault `notFound`, `unavailable` (offline, no bubblewrap), `timedOut`, `tooLarge`, `refused` with the
 * reason why it cannot be contained
 */
export async function fetchNpm(command: Command, wish: NpmWish): Promise<ProvidedLaunch> {
  const { hands: { mcpStore, disk, around }, places } = command;
  const registry = readRegistry(disk, around);
  refuseScoped(wish.package, registry);
  sweepDrafts(command);
  const draft = mcpStore.draft(places.mcpTrees);
  try {
    const lock = await resolve(mcpStore, disk, { wish, registry, draft });
    for (const { name } of lock.packages) refuseScoped(name, registry);
    const bin = findBin(disk, draft, { ...wish, version: lock.version });
    const notes = [...bin.notes, ...notesOf(lock, mcpStore.files(draft))];
    const made = { wish, registry, draft };
    const [packages] = await Promise.all([
      factsOf(command, lock, made),
      settle(mcpStore, disk, { ...made, lock, bin }),
    ]);
    const tree = mcpStore.keep(draft, { trees: places.mcpTrees, prefix: "npm" });
    provideWarm(disk, places, tree);
    const launch = McpLaunch.parse({
      ...{ kind: "npm", package: wish.package, version: lock.version, bin: bin.name },
      ...{ args: wish.args, tree },
      ...(registry.url === undefined ? {} : { registry: registry.url }),
    });
    return { launch, packages, notes: [...notes, ...unverifiedNotes(packages)] };
  } catch (error) {
    mcpStore.drop(draft);
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

type Disk = Command["hands"]["disk"];

async function factsOf(
  command: Command,
  { packages }: FetchedLock,
  made: Made,
): Promise<readonly LockedPackage[]> {
  const { hands: { mcpStore, disk } } = command;
  // Deno names the folder by the host: so its own registry has no name here.
  const [host = ""] = disk.list(join(made.draft, "npm"));
  const registry = made.registry.url ?? `https://${host}/`;
  return await withFacts(command, packages, {
    ...{ denoAt: DENO_AT, env: step(mcpStore.deno, made, []).env },
    registry: registry.endsWith("/") ? registry : `${registry}/`,
    ownKeys: made.registry.url !== undefined,
  });
}

async function resolve(store: McpStoreHands, disk: Disk, made: Made): Promise<FetchedLock> {
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

/** Leaves in the tree what its lock names and nothing else, and sees that this is enough, without a network. */
async function settle(
  store: McpStoreHands,
  disk: Disk,
  made: Made & { readonly lock: FetchedLock; readonly bin: NpmBin },
): Promise<void> {
  const { draft, wish, lock, bin } = made;
  const prune = (): void => {
    for (const { path } of store.files(draft)) if (!isKept(path)) disk.remove(join(draft, path));
  };
  prune();
  const end = await store.step(step(store.deno, made, [
    ...[...CACHE, "--frozen"],
    `npm:${wish.package}@${lock.version}/${bin.name}`,
  ]));
  if (end.code !== 0) throw whyNot({ name: wish.package, wanted: lock.version }, end);
  prune();
}

/**
 * The lock, and files of packages. Deno's caches, and what the registry said that day of all versions
 * (`npm/HOST/NAME/registry.json`), are not needed, and differ from one fetch of a version to the next.
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

/** A sentence for a fetch that failed. What Deno said is untrusted: names in it come from packages. */
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
