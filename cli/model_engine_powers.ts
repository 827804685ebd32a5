/**
 * llama.cpp as native code: one npm package, fetched once by Deno's own client against a pinned
 * integrity, and copied to where the kernel binds it. Issue 4.
 * @module
 */
import { join } from "node:path";
import { Fault } from "../contracts/mod.ts";
import { sha256Hex } from "../port/digest.ts";
import { displayBlock } from "../text/mod.ts";
import { z } from "zod";
import type { NativeEngine } from "./model_hands.ts";
import { nativeAddon } from "./model_programs_powers.ts";

const VERSION = "3.22.1";
const ADDON = "llama-addon.node";
const SEAL = "remit.json";

/** Package and integrity by processor; both packages hold prebuilt files and no install script is run. */
const PACKAGES: Readonly<
  Record<string, { readonly name: string; readonly folder: string; readonly integrity: string }>
> = {
  x86_64: {
    name: "@node-llama-cpp/linux-x64",
    folder: "bins/linux-x64",
    integrity:
      "sha512-5uCCDNqWCNfaAm8aR/Uzxbo4HBpKgNF91kCHPepKhgMgV2OAmatoefbOlMihsqCiH2Od35E/eUHQCFbfRBJuOg==",
  },
  aarch64: {
    name: "@node-llama-cpp/linux-arm64",
    folder: "bins/linux-arm64",
    integrity:
      "sha512-W+7naKCXX9/eEjjFmRS8vvx91QyLXDbeFxexZc3bh/PtQABZgmRL3C0AtYYXn4YGTj/3Qor4lWZn2tpjZFPLdQ==",
  },
};

const Seal = z.object({
  version: z.literal(1),
  package: z.string(),
  integrity: z.string(),
  /** Name → SHA-256 of every file. */
  files: z.record(z.string(), z.string()),
}).strict();

/** Every file beneath a folder that is called `name`. */
function findFile(folder: string, name: string): string | undefined {
  for (const entry of Deno.readDirSync(folder)) {
    const path = join(folder, entry.name);
    if (entry.isFile && entry.name === name) return path;
    const inner = entry.isDirectory ? findFile(path, name) : undefined;
    if (inner !== undefined) return inner;
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

function isSealed(folder: string, offer: { readonly integrity: string }): boolean {
  try {
    const seal = Seal.parse(JSON.parse(Deno.readTextFileSync(join(folder, SEAL))));
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name)
      .filter((name) => name !== SEAL);
    return seal.integrity === offer.integrity && names.includes(ADDON) &&
      names.length === Object.keys(seal.files).length &&
      names.every((name) => sha256Hex(Deno.readFileSync(join(folder, name))) === seal.files[name]);
  } catch (error) {
    const gone = error instanceof Deno.errors.NotFound || error instanceof SyntaxError ||
      error instanceof z.ZodError;
    if (gone) return false;
    throw error;
  }
}

/** Has Deno's client fetch the package into `denoDir`, and check it against its integrity. */
async function download(
  draft: string,
  { name, integrity }: { readonly name: string; readonly integrity: string },
): Promise<void> {
  const specifier = `npm:${name}@${VERSION}`;
  const lock = {
    version: "5",
    specifiers: { [specifier]: VERSION },
    npm: { [`${name}@${VERSION}`]: { integrity } },
  };
  Deno.writeTextFileSync(join(draft, "deno.json"), '{ "nodeModulesDir": "none" }\n');
  Deno.writeTextFileSync(join(draft, "deno.lock"), JSON.stringify(lock));
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["cache", "--quiet", "--frozen", "--config", "deno.json", "--lock", "deno.lock"],
      specifier,
    ],
    cwd: draft,
    env: { DENO_DIR: join(draft, "deno"), NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
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
      `Cannot take the native engine: ${name}@${VERSION} is not what this version pinned\n${lines}`,
    );
  }
  throw new Fault(
    "unavailable",
    "Cannot fetch the native engine: the package registry did not give it; try again with " +
      `internet, or leave it out: models run in WASM without it\n${lines}`,
  );
}

/** Makes it. */
export function makeNativeEngine(
  { cache }: { readonly cache: () => string },
): NativeEngine {
  const pinned = Deno.build.os === "linux" ? PACKAGES[Deno.build.arch] : undefined;
  const folderOf = (): string => join(nativeAddon(cache()), "..");
  return Object.freeze({
    offer: pinned === undefined ? undefined : {
      package: `${pinned.name}@${VERSION}`,
      about: "llama.cpp built for this processor (MIT), about 30 MB on the disk",
    },
    found(): string | undefined {
      if (pinned === undefined) return undefined;
      const folder = folderOf();
      return isSealed(folder, pinned) ? folder : undefined;
    },
    async fetch(): Promise<{ folder: string; bytes: number; files: number }> {
      if (pinned === undefined) {
        throw new Fault(
          "unavailable",
          "Cannot fetch the native engine: there is none for this system; models run in WASM",
        );
      }
      const folder = folderOf();
      Deno.mkdirSync(cache(), { recursive: true, mode: 0o700 });
      const draft = Deno.makeTempDirSync({ dir: cache(), prefix: ".engine-" });
      try {
        await download(draft, pinned);
        const addon = findFile(join(draft, "deno", "npm"), ADDON);
        if (addon === undefined || !addon.endsWith(join(pinned.folder, ADDON))) {
          throw new Fault(
            "refused",
            `Cannot take the native engine: ${pinned.name} holds no ${pinned.folder}/${ADDON}`,
          );
        }
        const source = join(addon, "..");
        const ready = join(draft, "ready");
        Deno.mkdirSync(ready, { mode: 0o700 });
        const files: Record<string, string> = {};
        let bytes = 0;
        for (const { name, isFile } of Deno.readDirSync(source)) {
          if (!isFile) continue;
          const content = Deno.readFileSync(join(source, name));
          Deno.writeFileSync(join(ready, name), content, { mode: 0o400 });
          files[name] = sha256Hex(content);
          bytes += content.length;
        }
        const seal = {
          version: 1,
          package: `${pinned.name}@${VERSION}`,
          integrity: pinned.integrity,
          files,
        };
        Deno.writeTextFileSync(join(ready, SEAL), `${JSON.stringify(seal, null, 2)}\n`);
        removeAll(folder);
        Deno.renameSync(ready, folder);
        return { folder, bytes, files: Object.keys(files).length };
      } finally {
        removeAll(draft);
      }
    },
  });
}
