import { deepEqual, equal, throws } from "node:assert/strict";
import { Fault } from "../contracts/fault.ts";
import type { InferenceRequest } from "../contracts/model.ts";
import { makeToolTables } from "./tool_tables.ts";

const table = (name: string): InferenceRequest["tools"] =>
  [{ name }] as unknown as InferenceRequest["tools"];

Deno.test("a table that was sent is known again, and one that was not is asked for", () => {
  const tables = makeToolTables();
  throws(
    () => tables.of("a", []),
    (error) => error instanceof Fault && error.detail?.["table"] === "a",
  );
  deepEqual(tables.of("a", table("a")), table("a"));
  deepEqual(tables.of("a", []), table("a"));
});

Deno.test("few tables are kept, those that are used longest", () => {
  const tables = makeToolTables();
  tables.of("used", table("used"));
  for (let n = 0; n < 40; n++) {
    tables.of(`t${n}`, table(`t${n}`));
    equal(tables.of("used", []).length, 1);
  }
  throws(() => tables.of("t0", []), (error) => error instanceof Fault);
});
