/** What Deno wrote down of a fetch: exact versions and the integrity of each archive. @module */
import * as z from "zod";
import { Fault } from "../../../contracts/mod.ts";

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

const MOST = 10_000;

/** A package as it was fetched. */
export interface FetchedPackage {
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
  if (packages.size > MOST) throw wrong(`has more than ${MOST} packages`);
  if (!packages.has(`${asked.name}@${version}`)) throw wrong("has no integrity of it");
  const exact = { ...parsed.data, specifiers: { [`npm:${asked.name}@${version}`]: resolved } };
  return {
    version,
    packages: [...packages.keys()].sort().flatMap((key) => packages.get(key) ?? []),
    text: `${JSON.stringify(exact, null, 2)}\n`,
  };
}
