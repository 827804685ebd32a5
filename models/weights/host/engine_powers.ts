/**
 * Fetches llama.cpp as native code: npm packages, downloaded by Deno's own client with a pinned integrity,
 * and copied to where the kernel binds them. Used by cli/model/model_powers.ts.
 * @module
 */
import { dirname, join } from "node:path";
import { Fault } from "../../../contracts/base/mod.ts";
import { nativeAddonOf, type NativeBuild } from "../../../contracts/model/mod.ts";
import { displayBlock } from "../../../text/mod.ts";
import {
  accelerateCommand,
  ENGINE_VERSION,
  type EngineBuild,
  engineBuild,
  type EnginePackage,
  nativeAddon,
} from "../builds.ts";
import type { NativeEngine } from "../powers.ts";
import { buildEnv } from "../../../port/build_env.ts";
import { createHash } from "node:crypto";
import * as z from "zod";

const ADDON = "llama-addon.node";
/** Subfolder with libraries for machines that cannot load those beside the addon. */
const FALLBACK = "fallback";

/** The folder of a package's files within Deno's cache. */
function findFolder(folder: string, end: string): string | undefined {
  for (const entry of Deno.readDirSync(folder)) {
    if (!entry.isDirectory) continue;
    const path = join(folder, entry.name);
    const found = path.endsWith(`/${end}`) ? path : findFolder(path, end);
    if (found !== undefined) return found;
  }
  return undefined;
}

function removeAll(path: string): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Downloads a package with Deno's client, which verifies its integrity. */
async function download(draft: string, { name, integrity }: EnginePackage): Promise<void> {
  const specifier = `npm:${name}@${ENGINE_VERSION}`;
  const lock = {
    version: "5",
    specifiers: { [specifier]: ENGINE_VERSION },
    npm: { [`${name}@${ENGINE_VERSION}`]: { integrity } },
  };
  Deno.writeTextFileSync(join(draft, "deno.json"), '{ "nodeModulesDir": "none" }\n');
  Deno.writeTextFileSync(join(draft, "deno.lock"), JSON.stringify(lock));
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["cache", "--quiet", "--frozen", "--config", "deno.json", "--lock", "deno.lock"],
      specifier,
    ],
    cwd: draft,
    clearEnv: true,
    env: { ...buildEnv(Deno.env.toObject()), DENO_DIR: join(draft, "deno") },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (success) return;
  const said = new TextDecoder().decode(stderr);
  const lines = displayBlock(said, { prefix: "  │ ", maxLines: 12 }).join("\n");
  if (/checksum did not match|integrity/i.test(said)) {
    throw new Fault(
      "refused",
      `Cannot take the native engine: ${name}@${ENGINE_VERSION} is not what this version pinned\n${lines}`,
    );
  }
  throw new Fault(
    "unavailable",
    "Cannot fetch the native engine: the package registry did not give it; try again with " +
      `internet, or leave it out: models run in WASM without it\n${lines}`,
  );
}

/** Moves the files of a downloaded package to `ready`. */
function take(draft: string, { name, folder }: EnginePackage, ready: string): void {
  const source = findFolder(join(draft, "deno", "npm"), `${ENGINE_VERSION}/${folder}`);
  if (source === undefined) {
    throw new Fault("refused", `Cannot take the native engine: ${name} holds no ${folder}`);
  }
  const move = (from: string, to: string): void => {
    Deno.mkdirSync(to, { recursive: true, mode: 0o700 });
    for (const entry of Deno.readDirSync(from)) {
      if (entry.isDirectory && entry.name === FALLBACK) {
        move(join(from, FALLBACK), join(to, FALLBACK));
      }
      if (!entry.isFile) continue;
      Deno.renameSync(join(from, entry.name), join(to, entry.name));
      Deno.chmodSync(join(to, entry.name), 0o400);
    }
  };
  move(source, ready);
}

/** A build of the engine in the cache. */
export function makeNativeEngine(
  { cache, build = "cpu", machine = Deno.build }: {
    readonly cache: () => string;
    readonly build?: NativeBuild;
    /** The target machine; absent: this one. */
    readonly machine?: { readonly os: string; readonly arch: string };
  },
): NativeEngine {
  const pinned = engineBuild(machine, build);
  const folderOf = (): string => dirname(nativeAddonOf(nativeAddon(cache()), build));
  return Object.freeze({
    offer: pinned === undefined
      ? undefined
      : { package: packagesText(pinned), about: pinned.about },
    found(): string | undefined {
      if (pinned === undefined) return undefined;
      const folder = folderOf();
      return isSealed(folder, pinned, ADDON) ? folder : undefined;
    },
    async fetch(): Promise<{ folder: string; bytes: number; files: number }> {
      if (pinned === undefined) {
        const other = build === "cpu" ? "" : `, or take "${accelerateCommand("cpu")}"`;
        throw new Fault(
          "unavailable",
          `Cannot fetch the native engine (${build}): there is none for this system; models run ` +
            `in WASM${other}`,
        );
      }
      const folder = folderOf();
      Deno.mkdirSync(cache(), { recursive: true, mode: 0o700 });
      const draft = Deno.makeTempDirSync({ dir: cache(), prefix: ".engine-" });
      try {
        const ready = join(draft, "ready");
        for (const each of pinned.packages) {
          await download(draft, each);
          take(draft, each, ready);
        }
        if (!Deno.readDirSync(ready).some(({ name }) => name === ADDON)) {
          const [{ name }] = pinned.packages;
          throw new Fault("refused", `Cannot take the native engine: ${name} holds no ${ADDON}`);
        }
        const sealed = seal(ready, pinned);
        removeAll(folder);
        Deno.renameSync(ready, folder);
        return { folder, ...sealed };
      } finally {
        removeAll(draft);
      }
    },
  });
}

// The seal beside an engine's files: the packages, and the digest of each file.

const SEAL = "remit.json";
/** Bytes read at a time: a CUDA library has hundreds of megabytes. */
const PIECE = 4 * 1024 * 1024;

const Seal = z.object({
  version: z.literal(1),
  package: z.string(),
  /** Of all packages, separated by spaces. */
  integrity: z.string(),
  /** Relative path → SHA-256 of every file. */
  files: z.record(z.string(), z.string()),
}).strict();

/** The packages for display. */
function packagesText({ packages }: EngineBuild): string {
  return packages.map(({ name }) => `${name}@${ENGINE_VERSION}`).join(" and ");
}

function integrityOf({ packages }: EngineBuild): string {
  return packages.map(({ integrity }) => integrity).join(" ");
}

/** Relative paths of all files beneath a folder, except the seal. */
function filesBeneath(folder: string, under = ""): string[] {
  return [...Deno.readDirSync(join(folder, under))].flatMap((entry) => {
    const path = under === "" ? entry.name : `${under}/${entry.name}`;
    if (entry.isDirectory) return filesBeneath(folder, path);
    return path === SEAL ? [] : [path];
  });
}

function digestOfFile(path: string): string {
  using file = Deno.openSync(path, { read: true });
  const hash = createHash("sha256");
  const piece = new Uint8Array(PIECE);
  for (let read = file.readSync(piece); read !== null; read = file.readSync(piece)) {
    hash.update(piece.subarray(0, read));
  }
  return hash.digest("hex");
}

/** Seals the files of a folder. Returns their number and bytes. */
export function seal(
  folder: string,
  build: EngineBuild,
): { readonly files: number; readonly bytes: number } {
  const names = filesBeneath(folder);
  const text = JSON.stringify(
    {
      version: 1,
      package: packagesText(build),
      integrity: integrityOf(build),
      files: Object.fromEntries(names.map((name) => [name, digestOfFile(join(folder, name))])),
    },
    null,
    2,
  );
  Deno.writeTextFileSync(join(folder, SEAL), `${text}\n`);
  const sizes = names.map((name) => Deno.statSync(join(folder, name)).size);
  return { files: names.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/** Whether a folder holds exactly the files sealed for this build, with the same bytes, and `needed` among them. */
export function isSealed(folder: string, build: EngineBuild, needed: string): boolean {
  try {
    const { integrity, files } = Seal.parse(
      JSON.parse(Deno.readTextFileSync(join(folder, SEAL))),
    );
    const names = filesBeneath(folder);
    return integrity === integrityOf(build) && names.includes(needed) &&
      names.length === Object.keys(files).length &&
      names.every((name) => files[name] === digestOfFile(join(folder, name)));
  } catch (error) {
    const gone = error instanceof Deno.errors.NotFound || error instanceof SyntaxError ||
      error instanceof z.ZodError;
    if (gone) return false;
    throw error;
  }
}
