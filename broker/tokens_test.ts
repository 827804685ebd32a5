import { equal, match, throws } from "node:assert/strict";
import { Pid } from "../contracts/authority/mod.ts";
import { sha256Hex } from "../port/digest.ts";
import { handPowers } from "./_fixture/hand_powers.ts";
import { makeWorld } from "./_fixture/world.ts";
import { makeTokens, type TokenBinding, type TokenGrant } from "./tokens.ts";

const USE: TokenBinding = {
  pid: Pid.parse(2),
  conversation: "main",
  turn: 1,
  callId: "c1",
  tool: "act",
  argumentsHash: sha256Hex("{}"),
  colour: "BLUE",
  label: "public",
};

function grant(expiresAt: number): TokenGrant {
  return { ...USE, descriptor: sha256Hex("descriptor"), expiresAt };
}

Deno.test("mallory starts one token a thousand times at once and one start wins", async () => {
  const powers = handPowers();
  const tokens = makeTokens(powers);
  const token = tokens.mint(grant(powers.now() + 1));
  const starts = await Promise.allSettled(Array.from({ length: 1_000 }, async (_, i) => {
    for (let hop = i % 5; hop > 0; hop--) await Promise.resolve();
    return tokens.redeem(token, USE);
  }));
  equal(starts.filter(({ status }) => status === "fulfilled").length, 1);
  equal(tokens.live(), 0);
});

Deno.test("a token is void for any other process, turn, call, tool, arguments, colour or label", () => {
  const powers = handPowers();
  const tokens = makeTokens(powers);
  const others: Partial<TokenBinding>[] = [
    { pid: Pid.parse(3) },
    { conversation: "other" },
    { turn: 2 },
    { callId: "c2" },
    { tool: "wipe" },
    { argumentsHash: sha256Hex("other") },
    { colour: "RED" },
    { label: "secret" },
  ];
  for (const other of others) {
    const token = tokens.mint(grant(powers.now() + 1));
    throws(() => tokens.redeem(token, { ...USE, ...other }), /another/);
    throws(() => tokens.redeem(token, USE), /unknown or was used/, "a failed start uses it up");
  }
});

Deno.test("a token that expired, was ended or was never made starts nothing", () => {
  const powers = handPowers();
  const tokens = makeTokens(powers);
  const old = tokens.mint(grant(powers.now() + 10));
  powers.turn(10);
  throws(() => tokens.redeem(old, USE), /expired/);
  const ended = tokens.mint(grant(powers.now() + 10));
  tokens.end(ended);
  throws(() => tokens.redeem(ended, USE), /unknown/);
  throws(() => tokens.redeem("0".repeat(32), USE), /unknown/);
});

Deno.test("a power that was handed changed arguments cannot start", async () => {
  const world = await makeWorld();
  const binding = world.add({ name: "act", effect: "read" });
  world.tools.set("act", {
    ...binding,
    invoke: (call, signal) => binding.invoke({ ...call, args: { path: "elsewhere" } }, signal),
  });
  const result = await world.call("act", { path: "here" });
  equal(result.outcome, "refusedByPolicy");
  match(result.error ?? "", /another argumentsHash/);
});

Deno.test("a power that starts twice with one token is refused the second time", async () => {
  const world = await makeWorld();
  const binding = world.add({ name: "act", effect: "read" });
  world.tools.set("act", {
    ...binding,
    invoke: async (call, signal) => {
      await binding.invoke(call, signal);
      return await binding.invoke(call, signal);
    },
  });
  equal((await world.call("act")).outcome, "refusedByPolicy");
  equal(world.effects.length, 1);
});
