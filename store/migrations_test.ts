import assert from "node:assert/strict";
import { Fault } from "../contracts/base/fault.ts";
import { pendingMigrations, SQLITE_MIGRATIONS } from "./migrations.ts";

Deno.test("migrations: the list counts from 1 without gaps", () => {
  assert.deepEqual(SQLITE_MIGRATIONS.map((m) => m.version), SQLITE_MIGRATIONS.map((_, i) => i + 1));
});

Deno.test("migrations: what is pending is what lies past the present version", () => {
  const step = (version: number): { version: number; name: string; sql: string } => ({
    version,
    name: "step",
    sql: "",
  });
  const list = [step(1), step(2), step(3)];
  assert.deepEqual(pendingMigrations(0, list).map((m) => m.version), [1, 2, 3]);
  assert.deepEqual(pendingMigrations(2, list).map((m) => m.version), [3]);
  assert.deepEqual(pendingMigrations(3, list), []);
  assert.throws(
    () => pendingMigrations(4, list),
    (error: unknown) =>
      error instanceof Fault && error.code === "unavailable" && /version 4/.test(error.message),
  );
});
