/**
 * A registry's facts about packages: signatures, attestations, deprecation; and reading deno.lock.
 * Used by npm.ts.
 * @module
 */
import { createPublicKey, verify } from "node:crypto";
import { join } from "node:path";
import { displayText } from "../../../../text/mod.ts";
import type { RegistryPowers } from "../store/store.ts";
import { Fault } from "../../../../contracts/base/mod.ts";
import { LockedPackage } from "../lock.ts";
import type { FetchStep } from "../store/store.ts";
import * as z from "zod";

const FACTS_MS = 60_000;
/** Packages that are asked about, at most. */
const MAX_PACKAGES = 2_000;
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
const Facts = z.looseObject({
  said: z.array(Fact).max(MAX_PACKAGES),
  keys: z.unknown().optional(),
});
const Keys = z.looseObject({
  keys: z.array(z.looseObject({
    keyid: z.string().max(256),
    key: z.string().max(2_048),
    keytype: z.string().max(64),
    expires: z.string().max(64).nullish(),
  })).max(32),
});

/**
 * The signing keys of npm's registry, by id: https://docs.npmjs.com/about-registry-signatures.
 * Pinned here, since a registry that serves other code can serve other keys, too. Signatures of the
 * first, retired key stay valid.
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
  /** Not npm's registry: the keys that it publishes count, too. */
  readonly ownKeys: boolean;
  readonly env: FetchStep["env"];
  readonly denoAt: string;
}

/**
 * Adds the registry's facts to packages. A package is `verified` when a signature fits one of npm's
 * pinned keys or, for another registry, one that the registry publishes; unknown facts are absent.
 *
 * @throws Fault `refused` when the signatures of known keys do not fit the fetched archive
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
    input: JSON.stringify(packages.slice(0, MAX_PACKAGES).map((each) => [each.name, each.version])),
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
  // If the registry describes another archive, its signature may be of that one.
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

/** Whether a signature fits the integrity that Deno checked the archive against. */
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
    // A malformed key or signature verifies nothing.
    return false;
  }
}

/** Notes for a reviewer about packages without a checked signature or attestation. */
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

/** The part of deno.lock, version 5, that is read: exact versions and the integrity of each archive. */
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

const MAX_LOCKED_PACKAGES = 10_000;

interface FetchedPackage {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  /** The package wants to run programs when it is installed. */
  readonly scripts: boolean;
  readonly deprecated: boolean;
}

/** The result of a fetch, from deno.lock. */
export interface FetchedLock {
  /** The exact version of the requested package. */
  readonly version: string;
  /** Sorted by name and version, without duplicates. */
  readonly packages: readonly FetchedPackage[];
  /** The lock's text, with `npm:PACKAGE@VERSION` as the requested specifier. */
  readonly text: string;
}

/** Parses a deno.lock. Throws `upstream` for an inconsistent one. */
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
  // `1.2.3_zod@4.0.0`: a peer dependency after `_` is not part of the version.
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
  if (packages.size > MAX_LOCKED_PACKAGES) {
    throw wrong(`has more than ${MAX_LOCKED_PACKAGES} packages`);
  }
  if (!packages.has(`${asked.name}@${version}`)) throw wrong("has no integrity of it");
  const exact = { ...parsed.data, specifiers: { [`npm:${asked.name}@${version}`]: resolved } };
  return {
    version,
    packages: [...packages.keys()].sort().flatMap((key) => packages.get(key) ?? []),
    text: `${JSON.stringify(exact, null, 2)}\n`,
  };
}
