/** Vectors of a provider, checked and brought to length 1. @module */
import { Fault } from "../../contracts/fault.ts";

/** Longest vector that is taken. */
const MOST_DIMENSIONS = 65_536;

/** Throws `upstream` where vectors differ in length, are empty, or hold what is not finite. */
export function unitVectors(
  rows: readonly (readonly number[])[],
  host: string,
): readonly Float32Array[] {
  const length = rows[0]?.length ?? 0;
  return rows.map((row) => {
    if (row.length !== length || length === 0 || length > MOST_DIMENSIONS) {
      throw new Fault("upstream", `Cannot embed: ${host} sends vectors of unequal or no length`);
    }
    const vector = Float32Array.from(row);
    let squares = 0;
    for (const value of vector) squares += value * value;
    if (!Number.isFinite(squares)) {
      throw new Fault("upstream", `Cannot embed: ${host} sends numbers that are not finite`);
    }
    const norm = Math.sqrt(squares);
    return norm === 0 ? vector : vector.map((value) => value / norm);
  });
}
