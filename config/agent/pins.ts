/**
 * Pins packages of foreign agents as they were added: names, contents, what may be executed. A package that changed since,
 * by an update or by tampering, does not run until its operator adds it again.
 * @module
 */
import { join } from "node:path";
import * as z from "zod";
import { Fault } from "../../contracts/base/mod.ts";
import type { ForeignAgent } from "../../contracts/tool/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { Places } from "../../launch/disk/places.ts";
import type { DiskRead, DiskWrite } from "../../launch/disk/machine.ts";

type Pin = NonNullable<ForeignAgent["pin"]>;

/** The part read from npm's list of installed packages. */
const Installed = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().max(128).optional(),
      integrity: z.string().max(256).optional(),
    }),
  ),
});
/** Most bytes of npm's list. */
const MAX_LIST = 16 * 1024 * 1024;

/** npm's record of an installed package; empty where npm did not install it, or the record is not understood. */
function installedIn(
  disk: Pick<DiskRead, "read">,
  tree: string,
  npm: string | undefined,
): Pick<Pin, "package" | "integrity"> {
  const name = npm?.replace(/(?<=.)@[^@/]*$/, "");
  const path = join(tree, "node_modules/.package-lock.json");
  const bytes = name === undefined ? undefined : disk.read(path, { most: MAX_LIST });
  if (bytes === undefined) return {};
  let list: unknown;
  try {
    list = JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
  const { version, integrity } = Installed.safeParse(list).data
    ?.packages[`node_modules/${name}`] ?? {};
  return {
    ...(version === undefined ? {} : { package: `${name}@${version}` }),
    ...(integrity === undefined ? {} : { integrity }),
  };
}

/** Pins a folder as it is. `npm`: the package in it, as `NAME@VERSION`. */
export function pinOf(
  disk: Pick<DiskRead, "read" | "tree">,
  tree: string,
  npm: string | undefined,
): Pin {
  const facts = disk.tree(tree);
  const { files, bytes } = facts;
  return { sha256: facts.digest(), files, bytes, ...installedIn(disk, tree, npm) };
}

/** Why the installed version differs from the tried one, in words; undefined where it does not. */
export function otherVersion(pin: Pin | undefined, npm: string | undefined): string | undefined {
  return pin?.package === undefined || npm === undefined || pin.package === npm
    ? undefined
    : `${pin.package} is installed, ${npm} was tried`;
}

/**
 * Refuses an agent whose package differs from its pin. A checked package is not read again while its names, sizes and
 * times stay the same.
 *
 * @throws Fault `refused`
 */
export function checkPin(
  disk: Pick<DiskRead, "read" | "tree"> & DiskWrite,
  { state }: Pick<Places, "state">,
  { name, tree, pin }: ForeignAgent,
): void {
  if (tree === undefined || pin === undefined) return;
  const mark = join(state, "agents", `${name}.seen`);
  const facts = disk.tree(tree);
  const known = disk.read(mark);
  const wanted = `${pin.sha256} ${facts.fingerprint}\n`;
  if (known !== undefined && new TextDecoder().decode(known) === wanted) return;
  if (facts.digest() === pin.sha256) {
    disk.write(mark, wanted);
    return;
  }
  const now = installedIn(disk, tree, pin.package);
  const what = now.package === pin.package
    ? `${facts.files} files, ${facts.bytes} bytes now, ${pin.files} and ${pin.bytes} then`
    : `${pin.package ?? "unknown"} then, ${now.package ?? "unknown"} now`;
  throw new Fault(
    "refused",
    `Cannot run ${name}: what lies in "${tree}" is not what was added (${
      displayText(what, { max: 300 })
    }); look at it, then "remit agent add" again`,
  );
}
