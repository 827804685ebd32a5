import type { Row } from "./row.ts";

const HEAD = ["", "name", "value", "unit", "baseline", "ratio", "target"] as const;
const RIGHT: ReadonlySet<number> = new Set([2, 4, 5]);

/** Three significant digits, and whole thousands without digits after the point. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

/** The rows as aligned lines, head first. A row that misses its target is marked `MISS`. */
export function tableLines(rows: readonly Row[]): readonly string[] {
  const cells = rows.map((row): readonly string[] => [
    row.ok ? "ok" : "MISS",
    row.name,
    figure(row.value),
    row.unit,
    row.baseline === 0 ? "-" : figure(row.baseline),
    row.baseline === 0 ? "-" : `${row.ratio.toFixed(2)}×`,
    row.target,
  ]);
  const all = [HEAD, ...cells];
  const widths = HEAD.map((_, column) =>
    Math.max(...all.map((line) => (line[column] ?? "").length))
  );
  return all.map((line) =>
    line.map((cell, column) => {
      const width = widths[column] ?? 0;
      return RIGHT.has(column) ? cell.padStart(width) : cell.padEnd(width);
    }).join("  ").trimEnd()
  );
}
