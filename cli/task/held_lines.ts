/** Tables of leases, remembered answers and tools. Every cell is untrusted. @module */
import type { Json } from "../../contracts/base/mod.ts";
import { cell, recordOf, rowsOf } from "../command.ts";
import { tableLines } from "../terminal/table.ts";
import { spanText } from "../terminal/span.ts";

/** Leases as a table. `now`: milliseconds since 1970. `width`: columns. */
export function leaseLines(answer: Json, options: { now: number; width: number }): string[] {
  const { now, width } = options;
  const rows = rowsOf(answer).map((lease) => {
    const scope = recordOf(lease["scope"]);
    const expires = Number(lease["expiresAt"] ?? now);
    const left = lease["revokedAt"] !== undefined
      ? "revoked"
      : expires <= now
      ? "expired"
      : spanText(expires - now);
    return [
      cell(lease["id"]),
      cell(lease["task"]),
      cell(lease["pid"]),
      `${cell(scope["right"])} ${cell(scope["resource"])} ${cell(scope["path"])}`.trim(),
      left,
      cell(lease["reason"], 200),
    ];
  });
  const heads = ["LEASE", "TASK", "PID", "SCOPE", "LEFT", "WHY"];
  return tableLines(heads, rows, width, "no leases");
}

/** Answers that are remembered beyond their question, as a table. */
export function grantLines(answer: Json, width: number): string[] {
  const rows = rowsOf(answer).map((grant) => [
    cell(grant["question"]),
    cell(grant["decision"]),
    cell(grant["for"]),
    `${cell(grant["by"])} (${cell(grant["channel"])})`,
    cell(grant["covers"], 300),
  ]);
  if (rows.length === 0) return ["no answer of yours holds beyond its question"];
  return tableLines(["QUESTION", "ANSWER", "FOR", "BY", "COVERS"], rows, width);
}

/** Tools as a model sees them, as a table. */
export function toolLines(answer: Json, width: number): string[] {
  const rows = rowsOf(answer).map((tool) => [
    cell(tool["name"]),
    cell(tool["permission"]),
    cell(tool["description"], 300),
  ]);
  return tableLines(["TOOL", "MODE", "WHAT IT DOES"], rows, width, "no tools");
}
