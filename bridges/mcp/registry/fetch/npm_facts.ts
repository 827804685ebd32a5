/** What a registry says of packages beside their code: who signed them, where their build is attested. @module */
import { createPublicKey, verify } from "node:crypto";
import { join } from "node:path";
import { displayText } from "../../../../text/mod.ts";
import type { RegistryPowers } from "../store/store.ts";
import { Fault } from "../../../../contracts/base/mod.ts";
import { LockedPackage } from "../lock.ts";
import type { FetchStep } from "../store/store.ts";
import * as z from "zod";

const FACTS_MS = 60_000;
/** Most packages that are asked about. */
const MAX = 2_000;
const INSIDE = "/inside.ts";

const Attestations = z.looseObject({
  url: z.string().max(1_024),
  provenance: z.looseObject({ predicateType: z.string().max(256) }).optional(),
});
const Fact = z.looseObject({
  name: z.string(),
  version: z.string(),
  deprecated: z.unknown().optional(),
  integrity: z.unknown().optional(),
  signatures: z.unknown().optional(),
  attestations: z.unknown().optional(),
});
const Facts = z.looseObject({ said: z.array(Fact).max(MAX), keys: z.unknown().optional() });
const Keys = z.looseObject({
  keys: z.array(z.looseObject({
    keyid: z.string().max(256),
    key: z.string().max(2_048),
    keytype: z.string().max(64),
    expires: z.string().max(64).nullish(),
  })).max(32),
});

/**
 * The keys with which npm's own registry signs, by id, as it publishes them: https://docs.npmjs.com/about-registry-signatures.
 * Pinned, as a registry that hands out other code can hand out other keys as well. What the first of them signed before
 * it was retired stays signed.
 */
export const NPM_KEYS: Readonly<Record<string, string>> = {
  "SHA256:jl3bwswu80PjjokCgh0o2w5c2U4LhQAE57gj9cz1kzA":
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE1Olb3zMAFFxXKHiIkQO5cJ3Yhl5i6UPp+IhuteBJbuHcA5UogKo0EWtlWwW6KSaKoTNEYL7JlCQiVnkhBktUgg==",
  "SHA256:DhQ8wR5APBvFHLF/+Tc+AYvPOdTpcIDqOhxsBHRwC7U":
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEY6Ya7W++7aUPzvMTrezH6Ycx3c+HOKYCcNGybJZSCJq/fd7Qa8uuAKtdIkUQtQiEKERhAmE5lMMJhP8OkDOa2g==",
};

interface FactsParts {
  /** Ends with a slash. */
  readonly registry: string;
  /** It is not npm's own: it may sign with keys that it publishes itself. */
  readonly ownKeys: boolean;
  readonly env: FetchStep["env"];
  readonly denoAt: string;
}

/**
 * The packages with what their registry says of them. A signature is held against npm's pinned keys, for another
 * registry against those that it publishes, too, and then `verified`; what it does not say, or what cannot be had, is
 * absent.
 *
 * @throws Fault `refused` for a signature of a known key that does not fit what was fetched
 */
export async function withFacts(
  powers: RegistryPowers,
  packages: readonly FetchedPackage[],
  { registry, ownKeys, env, denoAt }: FactsParts,
): Promise<readonly LockedPackage[]> {
  const { store, environment } = powers;
  const plain = packages.map(({ name, version, integrity, deprecated }) => ({
    ...{ name, version, integrity, verified: false },
    ...(deprecated ? { deprecated: "its author says not to use it" } : {}),
  }));
  const end = await store.step({
    program: denoAt,
    args: [
      ...["run", "--quiet", "--no-config", "--no-lock", "--no-npm", "--no-remote", "--no-prompt"],
      ...[`--allow-net=${new URL(registry).host}`, INSIDE, registry],
    ],
    env: { ...env, DENO_DIR: "/tmp/dd" },
    reads: [
      { from: store.deno, at: denoAt },
      { from: join(environment.home, "bridges/mcp/registry/fetch/inside_powers.ts"), at: INSIDE },
    ],
    input: JSON.stringify(packages.slice(0, MAX).map((each) => [each.name, each.version])),
    net: true,
    deadlineMs: FACTS_MS,
  });
  const facts = end.code === 0 ? Facts.safeParse(tryJson(end.out)).data : undefined;
  if (facts === undefined) return plain;
  const published = ownKeys ? Keys.safeParse(facts.keys).data?.keys ?? [] : [];
  const keys = new Map([
    ...published.filter(({ keytype, expires }) =>
      keytype === "ecdsa-sha2-nistp256" &&
      (expires === null || expires === undefined || Date.parse(expires) > environment.now())
    ).map(({ keyid, key }) => [keyid, key] as const),
    ...Object.entries(NPM_KEYS),
  ]);
  const byName = new Map(facts.said.map((each) => [`${each.name}@${each.version}`, each]));
  return plain.map((each) => {
    const fact = byName.get(`${each.name}@${each.version}`);
    return fact === undefined ? each : withFact(each, fact, keys);
  });
}

function withFact(
  each: LockedPackage,
  fact: z.infer<typeof Fact>,
  keys: ReadonlyMap<string, string>,
): LockedPackage {
  const signatures = LockedPackage.shape.signatures.safeParse(fact.signatures).data;
  const attested = Attestations.safeParse(fact.attestations).data;
  const known = (signatures ?? []).flatMap(({ keyid, sig }) => {
    const key = keys.get(keyid);
    return key === undefined ? [] : [signs(key, sig, each)];
  });
  const verified = known.includes(true);
  // Of an archive that the registry describes otherwise, another integrity may have been signed.
  if (!verified && known.length > 0 && fact.integrity === each.integrity) {
    throw new Fault(
      "refused",
      `Cannot fetch "${each.name}@${each.version}": its signature does not fit the archive that came`,
    );
  }
  return {
    ...each,
    verified,
    ...(typeof fact.deprecated === "string" && fact.deprecated !== ""
      ? { deprecated: fact.deprecated.slice(0, 1_024) }
      : {}),
    ...(signatures === undefined || signatures.length === 0 ? {} : { signatures }),
    ...(attested === undefined ? {} : {
      attestations: { url: attested.url, predicate: attested.provenance?.predicateType ?? "" },
    }),
  };
}

/** The integrity is the one that Deno held the archive against, not what the registry says now. */
export function signs(
  key: string,
  sig: string,
  { name, version, integrity }: Pick<LockedPackage, "name" | "version" | "integrity">,
): boolean {
  try {
    return verify(
      "sha256",
      new TextEncoder().encode(`${name}@${version}:${integrity}`),
      createPublicKey({ key: Buffer.from(key, "base64"), format: "der", type: "spki" }),
      Buffer.from(sig, "base64"),
    );
  } catch {
    // No key, or no signature: it signs nothing.
    return false;
  }
}

/** What nobody vouched for, for whoever reviews a server: a sentence for each kind. */
export function unverifiedNotes(packages: readonly LockedPackage[]): readonly string[] {
  const of = (some: readonly LockedPackage[]): string => {
    const names = some.slice(0, 4).map(({ name }) => displayText(name, { max: 100 })).join(", ");
    return `${some.length} of ${packages.length} packages (${names}${
      some.length > 4 ? ", …" : ""
    })`;
  };
  const unsigned = packages.filter(({ verified }) => !verified);
  const attested = packages.filter(({ attestations }) => attestations !== undefined);
  return [
    ...(unsigned.length === 0 ? [] : [
      `UNVERIFIED: of ${
        of(unsigned)
      } no signature was checked; that they are what their author published is the registry's word`,
    ]),
    ...(attested.length === 0 ? [] : [
      `UNVERIFIED: ${
        of(attested)
      } publish a statement of how they were built, which was not checked`,
    ]),
  ];
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// deno.lock of a fetch: exact versions and the integrity of each archive.

/** Of deno.lock, version 5, what is read. */
const DenoLock = z.looseObject({
  version: z.string(),
  specifiers: z.record(z.string().max(1_024), z.string().max(8_192)),
  npm: z.record(
    z.string().max(8_192),
    z.looseObject({
      integrity: z.string().max(256).regex(/^sha(?:1|256|384|512)-[A-Za-z0-9+/=]+$/),
      scripts: z.boolean().optional(),
      deprecated: z.boolean().optional(),
    }),
  ),
});

const LOCKED_PACKAGES = 10_000;

interface FetchedPackage {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  /** It asks npm to run programs when it is installed. */
  readonly scripts: boolean;
  readonly deprecated: boolean;
}

/** A fetch as deno.lock says it. */
export interface FetchedLock {
  /** Exact, of the package that was asked for. */
  readonly version: string;
  /** Sorted by name and version; each once, whatever it was combined with. */
  readonly packages: readonly FetchedPackage[];
  /** The same lock, in which `npm:PACKAGE@VERSION` is what was asked for. */
  readonly text: string;
}

/** Reads it. Throws Fault `upstream` for one that does not hold together. */
export function readDenoLock(text: string, asked: { name: string; wanted: string }): FetchedLock {
  const wrong = (why: string): Fault =>
    new Fault("upstream", `Cannot fetch "${asked.name}": what Deno wrote down ${why}`);
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    throw wrong("is no JSON");
  }
  const parsed = DenoLock.safeParse(read);
  if (!parsed.success) throw wrong("is of an unknown form");
  const { npm, specifiers } = parsed.data;
  const resolved = specifiers[`npm:${asked.name}@${asked.wanted}`];
  // `1.2.3_zod@4.0.0`: what it was combined with is no part of the version.
  const version = resolved?.split("_")[0];
  if (resolved === undefined || version === undefined) throw wrong("does not name it");
  const packages = new Map<string, FetchedPackage>();
  for (const [id, { integrity, scripts, deprecated }] of Object.entries(npm)) {
    const [, name, exact] = /^(@?[^@_][^@]*)@([^_]+)/.exec(id) ?? [];
    if (name === undefined || exact === undefined) throw wrong("has a package without a version");
    const key = `${name}@${exact}`;
    packages.set(key, {
      ...{ name, version: exact, integrity },
      ...{ scripts: scripts === true, deprecated: deprecated === true },
    });
  }
  if (packages.size > LOCKED_PACKAGES) throw wrong(`has more than ${LOCKED_PACKAGES} packages`);
  if (!packages.has(`${asked.name}@${version}`)) throw wrong("has no integrity of it");
  const exact = { ...parsed.data, specifiers: { [`npm:${asked.name}@${version}`]: resolved } };
  return {
    version,
    packages: [...packages.keys()].sort().flatMap((key) => packages.get(key) ?? []),
    text: `${JSON.stringify(exact, null, 2)}\n`,
  };
}
