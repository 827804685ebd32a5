/** What is kept of a world can be read again, or what stood before it stays. */
import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/mod.ts";
import { beginWorld, parseWorld } from "../../world/mod.ts";
import type { Command } from "../command.ts";
import { openWorld } from "./place.ts";

Deno.test("a state that could not be read again replaces nothing", () => {
  const files = new Map<string, string>();
  const disk = {
    read: (path: string) => {
      const text = files.get(path);
      return text === undefined ? undefined : new TextEncoder().encode(text);
    },
    makeFolder: () => undefined,
    write: (path: string, text: string) => void files.set(path, text),
  };
  const command = { powers: { disk }, places: { state: "/s" } } as unknown as Command;
  const world = parseWorld(
    `world: w
about: A place.
rooms: [{ name: hall, about: A hall. }]
people: [{ name: ada, persona: You are plain., home: hall }]
`,
    "w.yaml",
  );
  const good = beginWorld(world);
  const { save } = openWorld(command, "w");
  save(good);
  const entry = { at: 1, who: "ada", room: "hall", kind: "did", task: "t1" } as const;
  assert.throws(
    () => save({ ...good, log: [{ ...entry, text: "x".repeat(2_001) }] }),
    (error) => error instanceof Fault && error.code === "storeCorrupt",
  );
  assert.deepEqual(openWorld(command, "w").state, good);
  // It goes on from what stands.
  save({ ...good, log: [{ ...entry, text: "x" }] });
  assert.equal(openWorld(command, "w").state?.log.length, 1);
});
