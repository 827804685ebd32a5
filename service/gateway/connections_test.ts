import assert from "node:assert/strict";
import { makeConnections, type Place } from "./connections.ts";

const BOUNDS = { max: 4, firstMs: 100, idleMs: 1_000 };

function makeWorld() {
  let at = 0;
  const closed: string[] = [];
  const connections = makeConnections(BOUNDS, () => at);
  return {
    connections,
    closed,
    turn: (ms: number) => void (at += ms),
    take: (caller: string, name: string): Place | undefined =>
      connections.take(caller, () => closed.push(name)),
  };
}

Deno.test("where mallory holds every place, alice gets the one of hers that was silent for longest", () => {
  const { connections, closed, take } = makeWorld();
  for (const name of ["m1", "m2", "m3", "m4"]) assert.ok(take("mallory", name));
  assert.ok(take("alice", "a1"));
  assert.ok(take("alice", "a2"));
  assert.deepEqual(closed, ["m1", "m2"]);
  assert.equal(connections.size, 4);
});

Deno.test("mallory takes no place of whoever holds fewer than she", () => {
  const { closed, take } = makeWorld();
  take("alice", "a1");
  for (const name of ["m1", "m2", "m3"]) take("mallory", name)?.asked();
  assert.equal(take("mallory", "m4"), undefined, "all of hers are at work, alice's is not hers");
  assert.deepEqual(closed, []);
});

Deno.test("a connection with a request under way is never closed, nor is one for longer than it may be silent", () => {
  const { closed, take, turn, connections } = makeWorld();
  const busy = take("alice", "a1");
  busy?.asked();
  busy?.asked();
  take("mallory", "m1");
  turn(100);
  connections.sweep();
  assert.deepEqual(closed, ["m1"], "it never said what it wants");
  turn(10_000);
  busy?.answered();
  connections.sweep();
  assert.deepEqual(closed, ["m1"], "one of two is answered");
  busy?.answered();
  turn(999);
  connections.sweep();
  assert.equal(connections.size, 1);
  turn(1);
  connections.sweep();
  assert.deepEqual(closed, ["m1", "a1"]);
  assert.equal(connections.size, 0);
});

Deno.test("what a connection says after its end gives it no place again", () => {
  const { closed, take, turn, connections } = makeWorld();
  const place = take("alice", "a1");
  place?.asked();
  place?.over();
  place?.answered();
  place?.over();
  turn(5_000);
  connections.sweep();
  assert.deepEqual([connections.size, closed], [0, []]);
  for (const name of ["m1", "m2", "m3", "m4", "m5"]) take("mallory", name);
  assert.deepEqual([connections.size, closed], [4, ["m1"]]);
});
