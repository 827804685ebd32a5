import { equal, ok } from "node:assert/strict";
import { reach } from "./relay_powers.ts";

Deno.test("a program whose net service has a full queue waits for its turn, and is let go where none comes", async () => {
  const dir = await Deno.makeTempDir({ prefix: "remit-relay-" });
  const path = `${dir}/net`;
  equal(await reach(path), undefined, "nobody listens");
  const listener = Deno.listen({ transport: "unix", path });
  const waiting: Deno.UnixConn[] = [];
  try {
    for (let next = await reach(path, { patienceMs: 0 }); next !== undefined;) {
      waiting.push(next);
      next = await reach(path, { patienceMs: 0 });
    }
    const asked = reach(path, { patienceMs: 600_000 });
    // Whoever tries later than it finds no place either: it has met the crowd.
    equal(await reach(path, { patienceMs: 0 }), undefined);
    const taken = await listener.accept();
    const reached = await asked;
    ok(reached !== undefined);
    reached.close();
    taken.close();
  } finally {
    for (const each of waiting) each.close();
    listener.close();
    await Deno.remove(dir, { recursive: true });
  }
});
