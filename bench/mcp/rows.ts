/** Rows of benches over imported servers. @module */
import { median } from "../quantile.ts";
import type { Row } from "../row.ts";

/** A figure against its baseline, with what it may be at most. */
export function ratioRow(
  name: string,
  unit: string,
  { ours, bare }: { readonly ours: readonly number[]; readonly bare: readonly number[] },
  most: number,
): Row {
  const row = toldRow(name, unit, { ours, bare });
  return { ...row, target: `≤ ${most}×`, ok: row.ratio <= most };
}

/** A figure without a target. */
export function toldRow(
  name: string,
  unit: string,
  { ours, bare = [] }: { readonly ours: readonly number[]; readonly bare?: readonly number[] },
): Row {
  const value = median(ours), baseline = bare.length === 0 ? 0 : median(bare);
  const ratio = baseline === 0 ? 0 : value / baseline;
  return { name, value, unit, baseline, ratio, target: "(told)", ok: true };
}
