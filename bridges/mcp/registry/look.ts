/**
 * Looks at a server: starts it, reads its listing, ends it. The last look is kept, so that an
 * approval pins exactly what was shown.
 * @module
 */
import { join } from "node:path";
import * as z from "zod";
import { Digest, Millis } from "../../../contracts/authority/mod.ts";
import { Fault, type Json, present, toJson } from "../../../contracts/base/mod.ts";
import {
  type ImportedServer,
  type McpLook,
  PeerWords,
  ServerListing,
} from "../../../contracts/exchange/mod.ts";
import { digestOf } from "../../../port/digest.ts";
import type { KernelLink } from "../../../launch/kernel/kernels.ts";
import { importedOf, lendMcp, withFiles } from "./handover.ts";
import type { KeepPowers } from "./secrets.ts";
import type { RegistryPowers } from "./store/store.ts";
import { familyOf, type LockedServer } from "./lock.ts";
import type { Places } from "../../../launch/disk/places.ts";

/** Milliseconds for a look; under observation a server may be started several times. */
const OBSERVE_MS = 90_000;
const LOOK_MS = 45_000;

const Access = z.object({
  permission: z.enum(["read", "write", "net", "env", "run", "sys", "ffi", "import"]),
  value: z.string().max(8_192).nullable(),
  allowed: z.boolean(),
  times: z.number(),
});
const Look = z.object({
  words: z.union([ServerListing, PeerWords]).optional(),
  accesses: z.array(Access).max(100_000),
  errors: z.string(),
  ended: z.string().optional(),
  readyMs: z.number().optional(),
  bytes: z.number().optional(),
});

/** Parses the kernel's answer to a look. Throws `upstream` for any other answer. */
export function parseLook(answer: Json): McpLook {
  const parsed = Look.safeParse(answer);
  if (!parsed.success) {
    throw new Fault("upstream", "Cannot look at the server: the kernel's answer is another");
  }
  return present<McpLook>(parsed.data);
}

/** Asks the kernel for a look. With `observe` nothing is granted: accesses are refused and recorded. */
export async function askLook(
  link: KernelLink,
  server: ImportedServer,
  observe: boolean,
): Promise<McpLook> {
  const deadlineMs = observe ? OBSERVE_MS : LOOK_MS;
  return parseLook(await link.ask("mcpLook", toJson({ server, observe, deadlineMs })));
}

/** The powers that a look needs; each look connects to the kernel anew. */
export interface LookPowers extends RegistryPowers {
  kernel(): Promise<KernelLink>;
}

/** Looks at a server through the kernel and keeps the look for an approval. */
export async function lookAt(
  powers: LookPowers,
  server: LockedServer,
  observe: boolean,
): Promise<McpLook> {
  await powers.store.ready();
  const link = await powers.kernel();
  try {
    const imported = withFiles(powers, importedOf(server));
    if (!observe) await lendMcp(powers, link, [imported]);
    const look = await askLook(link, imported, observe);
    keepLook(powers, server, { at: powers.environment.now(), look });
    return look;
  } finally {
    link.close();
  }
}

/**
 * The first look. A server with grants is started with them, as tasks will start it. Without
 * grants, or if it does not start, its accesses are refused and recorded, which shows what it
 * needs. If it starts neither way, the reason of the first attempt is returned.
 */
export async function lookFirst(powers: LookPowers, server: LockedServer): Promise<McpLook> {
  if (server.launch.kind === "http") return await lookAt(powers, server, false);
  const { read, write, net } = server.grants;
  if (read.length + write.length + net.length === 0) return await lookAt(powers, server, true);
  const granted = await lookAt(powers, server, false);
  if (granted.words !== undefined) return granted;
  const watched = await lookAt(powers, server, true);
  const accesses = [...granted.accesses, ...watched.accesses];
  // A person can act on why the server did not start with its grants.
  return watched.words === undefined ? { ...granted, accesses } : { ...watched, accesses };
}

const KeptLook = z.object({
  version: z.literal(1),
  at: Millis,
  /** Digest of the launch. */
  server: Digest,
  /** From the last look with an answer. */
  words: z.union([ServerListing, PeerWords]).optional(),
  accesses: z.array(Access).max(1_000),
  /** The last look had no answer: the reason, and the server's error output. */
  failed: z.object({ ended: z.string().optional(), errors: z.string().max(16_384) }).optional(),
}).strict();
/** A kept look with an answer. */
export type KeptLook = z.infer<typeof KeptLook> & { readonly words: ServerListing };

const MAX_ACCESSES = 1_000;
const MAX_ERRORS = 16_384;

/** Identifies the launch: another version or other arguments change it, grants do not. */
function launchDigest(server: Pick<LockedServer, "launch">): Digest {
  return digestOf(toJson(server.launch));
}

const fileOf = (places: Places, name: string): string =>
  join(places.state, "mcp", "looks", `${name}.json`);

/** Keeps a look before it is shown. A look without an answer keeps the reason beside earlier words. */
export function keepLook(
  powers: KeepPowers,
  server: LockedServer,
  look: { readonly at: number; readonly look: McpLook },
): void {
  const { accesses, ended, errors } = look.look;
  const words = look.look.words ?? keptLook(powers, server)?.words;
  const failed = { ...(ended === undefined ? {} : { ended }), errors: errors.slice(-MAX_ERRORS) };
  const kept: z.infer<typeof KeptLook> = {
    version: 1,
    at: Millis.parse(look.at),
    server: launchDigest(server),
    ...(words === undefined ? {} : { words }),
    accesses: accesses.slice(0, MAX_ACCESSES).map((each) => ({ ...each })),
    ...(look.look.words === undefined ? { failed } : {}),
  };
  const { disk, places } = powers;
  disk.makeFolder(join(places.state, "mcp", "looks"), 0o700);
  disk.write(fileOf(places, server.name), `${JSON.stringify(kept)}\n`, { mode: 0o600 });
}

/** The last look with an answer at exactly this launch; undefined without one. */
export function keptLook(powers: KeepPowers, server: LockedServer): KeptLook | undefined {
  const kept = readLook(powers, server);
  return kept?.words === undefined ? undefined : { ...kept, words: kept.words };
}

/** The last look at exactly this launch, with an answer or not. */
export function lastLook(
  powers: KeepPowers,
  server: LockedServer,
): Partial<McpLook> & Pick<McpLook, "accesses"> | undefined {
  const { failed, words, accesses } = readLook(powers, server) ?? {};
  if (accesses === undefined) return undefined;
  return present<Partial<McpLook> & Pick<McpLook, "accesses">>(
    failed === undefined ? { accesses, words } : { accesses, ...failed },
  );
}

function readLook(
  { disk, places }: KeepPowers,
  server: LockedServer,
): z.infer<typeof KeptLook> | undefined {
  const bytes = disk.read(fileOf(places, server.name));
  if (bytes === undefined) return undefined;
  try {
    const kept = KeptLook.parse(JSON.parse(new TextDecoder().decode(bytes)));
    return kept.server === launchDigest(server) ? kept : undefined;
  } catch (cause) {
    throw new Fault(
      "invalidInput",
      `Cannot read what was shown of "${server.name}": it is damaged; run "remit ${
        familyOf(server)
      } review ${server.name}"`,
      { cause },
    );
  }
}

/** Removes the kept look of a server. */
export function dropLook({ disk, places }: KeepPowers, name: string): void {
  disk.remove(fileOf(places, name));
}
