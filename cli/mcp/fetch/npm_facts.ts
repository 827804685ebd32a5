/** What a registry says of packages beside their code: who signed them, where their build is attested. Issue 6. @module */
import { createPublicKey, verify } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import type { Command } from "../../command.ts";
import type { FetchedPackage } from "./npm_lock.ts";
import { LockedPackage } from "../lock/lock.ts";
import type { FetchStep } from "../store/hands.ts";

const FACTS_MS = 60_000;
/** Most packages that are asked about. */
const MOST = 2_000;
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
const Facts = z.looseObject({ said: z.array(Fact).max(MOST), keys: z.unknown().optional() });
const Keys = z.looseObject({
  keys: z.array(z.looseObject({
    keyid: z.string().max(256),
    key: z.string().max(2_048),
    keytype: z.string().max(64),
    expires: z.string().max(64).nullish(),
  })).max(32),
});

/** What is asked with. */
export interface FactsParts {
  /** Ends with a slash. */
  readonly registry: string;
  readonly env: FetchStep["env"];
  readonly denoAt: string;
}

/**
 * The packages with what their registry says of them. A signature is held against a key that the same registry
 * publishes, and then `verified`; what it does not say, or what cannot be had, is absent.
 */
export async function withFacts(
  command: Command,
  packages: readonly FetchedPackage[],
  { registry, env, denoAt }: FactsParts,
): Promise<readonly LockedPackage[]> {
  const { mcpStore, around } = command.hands;
  const plain = packages.map(({ name, version, integrity, deprecated }) => ({
    ...{ name, version, integrity, verified: false },
    ...(deprecated ? { deprecated: "its author says not to use it" } : {}),
  }));
  const end = await mcpStore.step({
    program: denoAt,
    args: [
      ...["run", "--quiet", "--no-config", "--no-lock", "--no-npm", "--no-remote", "--no-prompt"],
      ...[`--allow-net=${new URL(registry).host}`, INSIDE, registry],
    ],
    env: { ...env, DENO_DIR: "/tmp/dd" },
    reads: [
      { from: mcpStore.deno, at: denoAt },
      { from: join(around.home, "cli/mcp/fetch/inside_powers.ts"), at: INSIDE },
    ],
    input: JSON.stringify(packages.slice(0, MOST).map((each) => [each.name, each.version])),
    net: true,
    deadlineMs: FACTS_MS,
  });
  const facts = end.code === 0 ? Facts.safeParse(tryJson(end.out)).data : undefined;
  if (facts === undefined) return plain;
  const keys = (Keys.safeParse(facts.keys).data?.keys ?? []).filter(({ keytype, expires }) =>
    keytype === "ecdsa-sha2-nistp256" &&
    (expires === null || expires === undefined || Date.parse(expires) > around.now())
  );
  const byName = new Map(facts.said.map((each) => [`${each.name}@${each.version}`, each]));
  return plain.map((each) => {
    const fact = byName.get(`${each.name}@${each.version}`);
    return fact === undefined ? each : withFact(each, fact, keys);
  });
}

function withFact(
  each: LockedPackage,
  fact: z.infer<typeof Fact>,
  keys: z.infer<typeof Keys>["keys"],
): LockedPackage {
  const signatures = LockedPackage.shape.signatures.safeParse(fact.signatures).data;
  const attested = Attestations.safeParse(fact.attestations).data;
  const verified = (signatures ?? []).some(({ keyid, sig }) =>
    keys.some((key) => key.keyid === keyid && signs(key.key, sig, each))
  );
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
function signs(key: string, sig: string, { name, version, integrity }: LockedPackage): boolean {
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

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
