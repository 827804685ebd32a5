/** Queries, and the vectors that improve them. @module */
import * as z from "zod";
import { Fault } from "../../contracts/base/fault.ts";
import { Label } from "../../contracts/authority/mod.ts";
import { WikiQuery } from "../../contracts/wire/mod.ts";
import { type Op, reading, statusOf, writing } from "./op.ts";

const Embedder = z.string().min(1).max(256);
/** A slower query has indexed something. Milliseconds. */
const SLOW_MS = 250;
/** Dimensions of a vector. */
const MAX_DIMENSIONS = 4_096;

/** An array of numbers, or base64 of little-endian Float32. */
const Vector = z.union([
  z.array(z.number()).min(1).max(MAX_DIMENSIONS),
  z.base64().min(4).max(MAX_DIMENSIONS * 6),
]);

function numbersOf(vector: z.infer<typeof Vector>): readonly number[] {
  if (typeof vector !== "string") return vector;
  const bytes = Uint8Array.fromBase64(vector);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.length / 4;
  const numbers = Array.from({ length: Math.floor(count) }, (_, n) => view.getFloat32(n * 4, true));
  if (numbers.length !== count || !numbers.every(Number.isFinite)) {
    throw new Fault("invalidInput", "Cannot take a vector: not whole numbers of four bytes");
  }
  return numbers;
}

/** See the table in contracts/wire/wire_wiki.ts. */
export const QUERY_OPS: Readonly<Record<string, Op>> = {
  query: reading({
    body: WikiQuery,
    run: async ({ search, powers, readOnly }, query) => {
      const began = powers.now();
      const found = await search.query(query);
      // Expensive indexing is stored for the next process; small changes are indexed again.
      if (!readOnly && powers.now() - began > SLOW_MS) await search.save();
      return found;
    },
  }),

  embedPlan: reading({
    body: z.object({
      embedder: Embedder,
      limit: z.int().min(1).max(10_000),
      clearance: Label.default("secret"),
    }).strict(),
    run: ({ search }, { embedder, limit, clearance }) =>
      search.embedPlan(embedder, limit, clearance),
  }),

  embedTaken: writing({
    body: z.object({
      embedder: Embedder,
      vectors: z.array(z.object({ key: z.string().min(1).max(400), vector: Vector }).strict())
        .max(10_000),
    }).strict(),
    run: ({ search }, { embedder, vectors }) => {
      const all = vectors.map(({ key, vector }) => ({ key, vector: numbersOf(vector) }));
      search.embedTaken(embedder, all);
      return null;
    },
  }),

  status: reading({ body: z.null(), run: (wiki) => statusOf(wiki) }),

  reindex: writing({
    body: z.null(),
    run: async (wiki) => {
      await wiki.search.rebuild();
      await wiki.search.save();
      return statusOf(wiki);
    },
  }),
};
