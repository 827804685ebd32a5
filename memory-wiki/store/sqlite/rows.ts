/** Reading columns of rows, each with its type; a row of another shape is damage. @module */
import { Fault } from "../../../contracts/mod.ts";

/** One row as the engine gives it. */
export type Row = Readonly<Record<string, unknown>>;

function damaged(column: string): Fault {
  return new Fault(
    "storeCorrupt",
    `Cannot read the wiki's database: column "${column}" is damaged`,
  );
}

/** A number. @throws Fault `storeCorrupt` */
export function int(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw damaged(column);
  return value;
}

/** A text. @throws Fault `storeCorrupt` */
export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw damaged(column);
  return value;
}

/** Bytes. @throws Fault `storeCorrupt` */
export function bytes(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw damaged(column);
  return value;
}

/** A number or undefined for NULL. @throws Fault `storeCorrupt` */
export function maybeInt(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : int(row, column);
}

/** A text or undefined for NULL. @throws Fault `storeCorrupt` */
export function maybeText(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : text(row, column);
}

/** A JSON text, parsed. @throws Fault `storeCorrupt` */
export function json(row: Row, column: string): unknown {
  try {
    return JSON.parse(text(row, column));
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw damaged(column);
  }
}
