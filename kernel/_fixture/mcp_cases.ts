/** Shared by the tests of imported tools behind the gate. @module */
import { NO_POLICY, type PolicyRule } from "../../contracts/policy/mod.ts";
import type { Seen, Watched } from "../../tests/fake/siege.ts";
import { HAS_BWRAP } from "./small_children.ts";

/** A test that needs bubblewrap. */
export const test = (name: string, fn: () => Promise<void>): void =>
  Deno.test({ name, ignore: !HAS_BWRAP, fn });

/** A policy of these rules. */
export const policy = (...rules: readonly PolicyRule[]) => ({
  policy: { ...NO_POLICY, rules: rules.map((rule) => ({ ...rule, at: "test" })) },
});

/** A folder outside all of Remit's folders. */
export async function withFolder(f: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "binding-" }));
  try {
    await f(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The outcomes of a task's calls, in order. */
export const outcomes = (task: Watched): readonly Seen[] =>
  task.events.filter(({ event }) => event === "outcome");
/** A task's records of its servers. */
export const noted = (task: Watched, what: string): readonly Seen[] =>
  task.events.filter(({ event, body }) => event === "mcp" && body["what"] === what);
