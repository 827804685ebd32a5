import { deepEqual, rejects, throws } from "node:assert/strict";
import { Fault } from "../contracts/base/fault.ts";
import { isFault } from "./_fixture/parts.ts";
import { makeRoom } from "./service.ts";

const { signal } = new AbortController();

Deno.test("requests past the limit wait their turn, in order, and may leave the queue", async () => {
  const room = makeRoom({ atOnce: 1 });
  const order: string[] = [];
  const first = await room.enter(signal);
  const abort = new AbortController();
  const leaving = room.enter(abort.signal);
  const entering = (who: string) =>
    room.enter(signal).then((place) => {
      order.push(who);
      place[Symbol.dispose]();
    });
  const all = [entering("alice"), entering("bob")];
  abort.abort(new Fault("cancelled", "Cannot wait: cancelled"));
  await rejects(leaving, isFault("cancelled"));
  deepEqual(order, []);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await Promise.all(all);
  deepEqual(order, ["alice", "bob"]);
});

Deno.test("all bodies together hold no more than there is room for, and leave it when they go", async () => {
  const room = makeRoom({ held: 100 });
  const alice = await room.enter(signal);
  const mallory = await room.enter(signal);
  mallory.take(90);
  throws(() => alice.take(11), isFault("rateLimited"));
  alice.take(10);
  mallory[Symbol.dispose]();
  alice.take(90);
  throws(() => alice.take(1), isFault("rateLimited"));
});
