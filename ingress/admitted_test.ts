import assert from "node:assert/strict";
import { rememberAdmitted } from "./admitted.ts";

Deno.test("who was let in is asked about again after five seconds, and whoever was not each time", async () => {
  let now = 0;
  const asked: string[] = [];
  const admit = rememberAdmitted((token: string) => {
    asked.push(token);
    return token.startsWith("wrong")
      ? Promise.reject(new Error("denied"))
      : Promise.resolve(`peer of ${token}`);
  }, () => now);
  assert.equal(await admit("alice"), "peer of alice");
  assert.equal(await admit("alice"), "peer of alice");
  await assert.rejects(admit("wrong"));
  await assert.rejects(admit("wrong"));
  assert.deepEqual(asked, ["alice", "wrong", "wrong"]);
  now = 5_000;
  await admit("alice");
  assert.equal(asked.length, 4);
});

Deno.test("a thousand are known and no more", async () => {
  const asked: string[] = [];
  const admit = rememberAdmitted((token: string) => {
    asked.push(token);
    return Promise.resolve(token);
  }, () => 0);
  for (let n = 0; n < 1_001; n++) await admit(`t${n}`);
  await admit("t1000");
  await admit("t0");
  assert.deepEqual(asked.slice(1_000), ["t1000", "t0"]);
});
