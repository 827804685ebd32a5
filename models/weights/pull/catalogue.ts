/** The catalogue: models that `remit model pull` knows, in models.yaml beside this file. @module */
import { join } from "node:path";
import { parse } from "yaml";
import * as z from "zod";
import { Digest } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import { Dialect } from "../../../contracts/model/mod.ts";
import type { EntryFiles } from "../powers.ts";
import { WeightsName, WeightsSignature } from "../store.ts";

/** A model of the catalogue. */
export const CatalogueEntry = z.object({
  name: WeightsName,
  title: z.string().min(1).max(128),
  url: z.url({ protocol: /^https?$/ }).max(2_048),
  /** Exact size; absent: unknown, limited by `about`. */
  bytes: z.int().min(1).max(64_000_000_000).optional(),
  /** Approximate size in bytes. */
  about: z.int().min(1).max(64_000_000_000),
  /** Absent: the operator's first pull pins it. */
  sha256: Digest.optional(),
  licence: z.string().min(1).max(256),
  signature: WeightsSignature.optional(),
  why: z.string().min(1).max(1_000),
  contextTokens: z.int().min(256).max(100_000_000).optional(),
  dialect: z.array(Dialect).max(3).optional(),
  /** The model is an embedder. */
  embeds: z.literal(true).optional(),
}).strict();
export type CatalogueEntry = z.infer<typeof CatalogueEntry>;

const Catalogue = z.object({
  version: z.literal(1),
  models: z.array(CatalogueEntry).max(1_000),
}).strict();

/** Parses a catalogue. Throws `invalidInput`. */
export function parseCatalogue(text: string): readonly CatalogueEntry[] {
  let plain: unknown;
  try {
    plain = parse(text, { maxAliasCount: 0 });
  } catch (cause) {
    throw new Fault("invalidInput", "Cannot read the catalogue: it is no YAML", { cause });
  }
  const parsed = Catalogue.safeParse(plain);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Fault(
      "invalidInput",
      `Cannot read the catalogue: ${issue?.path.join(".") ?? ""} is wrong: ${issue?.message ?? ""}`,
    );
  }
  const names = parsed.data.models.map(({ name }) => name);
  const twice = names.find((name, n) => names.indexOf(name) < n);
  if (twice !== undefined) {
    throw new Fault("invalidInput", `Cannot read the catalogue: "${twice}" is there twice`);
  }
  return parsed.data.models;
}

/** Reads the catalogue of this version. `home` is Remit's own folder. */
export function readCatalogue(
  disk: Pick<EntryFiles, "read">,
  home: string,
): readonly CatalogueEntry[] {
  const bytes = disk.read(join(home, "models", "weights", "pull", "models.yaml"));
  return bytes === undefined ? [] : parseCatalogue(new TextDecoder().decode(bytes));
}

/** The entry of a name. Throws `notFound` listing all. */
export function findEntry(entries: readonly CatalogueEntry[], name: string): CatalogueEntry {
  const found = entries.find((entry) => entry.name === name);
  if (found !== undefined) return found;
  const all = entries.map((entry) => entry.name).join(", ");
  throw new Fault(
    "notFound",
    `Cannot pull "${name}": the catalogue has ${
      all === "" ? "nothing" : all
    }; a file of your own comes in with "remit model add FILE.gguf"`,
  );
}
