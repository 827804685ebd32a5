/** Kernels on one database reserve money and rates together: what is given out is never more than there is. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { isObject } from "../../contracts/base/json.ts";
import type { Json } from "../../contracts/base/mod.ts";
import { type FleetEnd, openEnd } from "../_fixture/fleet.ts";
import { startPostgres } from "../_fixture/postgres_powers.ts";
import { openEngine } from "./engine_powers.ts";
import { migrate } from "./store.ts";

async function inTwo(
  f: (one: FleetEnd, two: FleetEnd, url: string) => Promise<void>,
): Promise<void> {
  await using server = await startPostgres();
  const url = await server.database("shared");
  const owner = openEngine(url);
  await migrate(owner);
  await owner.close();
  const [one, two] = [await openEnd(url, "one"), await openEnd(url, "two")];
  try {
    await f(one, two, url);
  } finally {
    await Promise.all([one.close(), two.close()]);
  }
}

type Sum = Readonly<Record<string, Json>>;
const sums = (answer: Json): readonly Sum[] => Array.isArray(answer) ? answer.filter(isObject) : [];
const hold = async (end: FleetEnd, id: string, money: number, most = 1): Promise<Sum | undefined> =>
  sums(
    await end.ask({ kind: "hold", id, keys: ["day"], most: [most], need: money, money }),
  )[0];

Deno.test("two kernels that hold at once hold no more than the budget has, and both see all of it", async () => {
  await inTwo(async (one, two) => {
    const held = await Promise.all(
      Array.from({ length: 40 }, (_, i) => hold(i % 2 === 0 ? one : two, `h${i}`, 0.1)),
    );
    equal(held.filter((each) => each?.["fits"] === 1).length, 10);
    const [sum] = sums(await two.ask({ kind: "sums", keys: ["day"], seeds: [0] }));
    ok(Math.abs(Number(sum?.["held"]) - 1) < 1e-9);
    for (let i = 0; i < 40; i++) {
      const end = i % 2 === 0 ? one : two;
      await end.ask({ kind: "settle", id: `h${i}`, paid: 0.05 });
      // Sent again it changes nothing.
      await end.ask({ kind: "settle", id: `h${i}`, paid: 0.05 });
    }
    const [after] = sums(await one.ask({ kind: "allSums", prefixes: ["da"] }));
    ok(Math.abs(Number(after?.["spent"]) - 0.5) < 1e-9, JSON.stringify(after));
    equal(after?.["held"], 0);
  });
});

Deno.test("a hold that is sent again is one, and one that fits only one of two budgets is none", async () => {
  await inTwo(async (one, two) => {
    equal((await hold(one, "h", 0.6))?.["fits"], 1);
    equal((await hold(one, "h", 0.6))?.["fits"], 1);
    equal((await hold(two, "h", 0.6))?.["fits"], 0, "of another kernel it is another");
    const both = sums(
      await two.ask({
        ...{
          kind: "hold",
          id: "both",
          keys: ["day", "month"],
          most: [1, 9],
          need: 0.5,
          money: 0.5,
        },
      }),
    );
    deepEqual(both.map(({ fits }) => fits), [0, 0]);
    const all = sums(await one.ask({ kind: "allSums", prefixes: [""] }));
    deepEqual(all.map(({ key, held }) => [key, held]).sort(), [["day", 0.6], ["month", 0]]);
  });
});

Deno.test("what is read off a log late replaces no sum that somebody has begun", async () => {
  await inTwo(async (one, two) => {
    await one.ask({ kind: "sums", keys: ["day"], seeds: [0.25] });
    const [sum] = sums(await two.ask({ kind: "sums", keys: ["day"], seeds: [7] }));
    equal(sum?.["spent"], 0.25);
  });
});

Deno.test("a provider's requests a minute are those of all kernels, and a pause holds for all", async () => {
  await inTwo(async (one, two) => {
    const take = async (end: FleetEnd): Promise<number> =>
      Number(await end.ask({ kind: "takeRate", key: "api", requests: 10, tokens: 0, need: 5 }));
    const waits = await Promise.all(
      Array.from({ length: 14 }, (_, i) => take(i % 2 === 0 ? one : two)),
    );
    equal(waits.filter((ms) => ms === 0).length, 10);
    ok(waits.every((ms) => ms <= 24_000), String(waits));
    await one.ask({ kind: "tellRate", key: "other", more: 0, pauseMs: 30_000 });
    await two.ask({ kind: "takeRate", key: "other", requests: 0, tokens: 100, need: 90 });
    await one.ask({ kind: "tellRate", key: "other", more: 0, pauseMs: 30_000 });
    const paused = Number(
      await two.ask({ kind: "takeRate", key: "other", requests: 0, tokens: 100, need: 1 }),
    );
    ok(paused > 20_000 && paused <= 30_000, String(paused));
  });
});

Deno.test("tokens a minute: what was thought too much is given back, what is over is waited for", async () => {
  await inTwo(async (one, two) => {
    const take = async (end: FleetEnd, need: number): Promise<number> =>
      Number(await end.ask({ kind: "takeRate", key: "api", requests: 0, tokens: 1_000, need }));
    equal(await take(one, 900), 0);
    ok(await take(two, 900) > 40_000);
    await one.ask({ kind: "tellRate", key: "api", more: -800, pauseMs: 0 });
    equal(await take(two, 800), 0);
    // Larger than a whole minute: it goes when nothing else does.
    equal(
      Number(await one.ask({ kind: "takeRate", key: "big", requests: 0, tokens: 10, need: 99 })),
      0,
    );
    ok(
      Number(await two.ask({ kind: "takeRate", key: "big", requests: 0, tokens: 10, need: 1 })) > 0,
    );
  });
});

Deno.test("what a kernel held that is gone counts as spent, until it comes back and says what it paid", async () => {
  await inTwo(async (one, two, url) => {
    await hold(one, "h", 0.6);
    const owner = openEngine(url);
    await owner.write("UPDATE remit.kernels SET lease_until = now() WHERE name = 'one'", []);
    const look = async (): Promise<readonly unknown[]> => {
      const [sum] = sums(await two.ask({ kind: "sums", keys: ["day"], seeds: [0] }));
      return [sum?.["spent"], sum?.["held"]];
    };
    deepEqual(await look(), [0.6, 0], "nobody waits for it");
    equal((await hold(two, "mine", 0.5))?.["fits"], 0);
    await one.beat();
    deepEqual(await look(), [0, 0.6]);
    await one.ask({ kind: "settle", id: "h", paid: 0.2 });
    deepEqual(await look(), [0.2, 0]);
    await owner.close();
  });
});

Deno.test("mallory with a kernel's role neither settles another's hold nor takes money back", async () => {
  await inTwo(async (one, two, url) => {
    await hold(one, "h", 0.6);
    await two.ask({ kind: "settle", id: "h", paid: -5 });
    const thief = openEngine(url);
    try {
      const [row] = await thief.read("SELECT count(*) AS n FROM remit.holds", []);
      equal(Number(row?.["n"]), 1);
    } finally {
      await thief.close();
    }
    await one.ask({ kind: "settle", id: "h", paid: -5 });
    const [sum] = sums(await two.ask({ kind: "sums", keys: ["day"], seeds: [0] }));
    deepEqual([sum?.["spent"], sum?.["held"]], [0, 0]);
  });
});
