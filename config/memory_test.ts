import assert from "node:assert/strict";
import fc from "fast-check";
import { cleared, Label } from "../contracts/authority/mod.ts";
import { NoteKind } from "../contracts/memory/mod.ts";
import type { MemoryConfig } from "../contracts/policy/mod.ts";
import { type MergedMemory, narrowMemory, NO_MEMORY, overlayMemory } from "./memory.ts";
import { mergeLayers } from "./layers.ts";
import { parseConfigText } from "./text.ts";

const ACCESS = ["none", "read", "propose"] as const;
const USER = ["none", "read", "write"] as const;
const maybe = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(one, { nil: undefined });
const wish: fc.Arbitrary<MemoryConfig> = fc.record({
  wiki: maybe(fc.constantFrom("/a", "/b")),
  access: maybe(fc.constantFrom(...ACCESS)),
  user: maybe(fc.constantFrom(...USER)),
  review: maybe(fc.subarray([...NoteKind.options])),
  retention: maybe(fc.record({ taskLog: maybe(fc.integer({ min: 1, max: 400 })) })),
  clearance: maybe(fc.constantFrom(...Label.options)),
}) as fc.Arbitrary<MemoryConfig>;

const fileOf = (memory: MemoryConfig): Parameters<typeof narrowMemory>[1] => ({
  config: { version: 1, memory },
  at: (path) => `remit.yaml:${path.length}`,
});
const full = (memory: MergedMemory): Required<MergedMemory> => ({
  ...{ wiki: "", access: "propose", user: "write", review: [], retention: {}, clearance: "secret" },
  ...memory,
});

Deno.test("a folder's untrusted remit.yaml only narrows: never another wiki, more access, less review, longer keeping", () => {
  fc.assert(fc.property(wish, wish, (trusted, untrusted) => {
    const have = full(overlayMemory(NO_MEMORY, trusted));
    const now = full(narrowMemory(overlayMemory(NO_MEMORY, trusted), fileOf(untrusted)).memory);
    assert.equal(now.wiki, have.wiki);
    assert.ok(ACCESS.indexOf(now.access) <= ACCESS.indexOf(have.access));
    assert.ok(USER.indexOf(now.user) <= USER.indexOf(have.user));
    assert.ok(cleared(now.clearance, have.clearance));
    assert.ok(have.review.every((kind) => now.review.includes(kind)));
    assert.ok((now.retention.taskLog ?? 90) <= (have.retention.taskLog ?? 90));
  }));
});

Deno.test("what an untrusted file wishes for beyond that is left out, and told with its line", () => {
  const text = "version: 1\nmemory:\n  wiki: /mine\n  user: read\n  clearance: secret\n";
  const file = parseConfigText("desk/remit.yaml", text);
  const { memory, notes } = mergeLayers([{ file, trusted: false }]);
  assert.equal(memory.wiki, undefined);
  assert.equal(memory.user, "read");
  assert.deepEqual(notes, ['desk/remit.yaml:3: "memory.wiki" could widen']);
});

Deno.test("layers of one's own lie over each other key by key, and an unknown key is an error", () => {
  const layer = (text: string) => ({
    file: parseConfigText("a.yaml", `version: 1\nmemory: ${text}\n`),
    trusted: true,
  });
  const { memory } = mergeLayers([
    layer("{ wiki: /a, user: none, review: [userMemory] }"),
    layer("{ wiki: /b, retention: { taskLog: 7 } }"),
  ]);
  assert.deepEqual(memory, {
    ...{ wiki: "/b", user: "none", review: ["userMemory"] },
    retention: { taskLog: 7 },
  });
  assert.throws(() => layer("{ wiki: /a, folder: /b }"), /a\.yaml:2.*folder/);
  assert.throws(() => layer("{ review: [diary] }"), /a\.yaml:2/);
});
