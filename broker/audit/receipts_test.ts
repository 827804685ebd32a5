import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { verifyAsync } from "@noble/ed25519";
import type { Receipt } from "../../contracts/authority/receipt.ts";
import { makeMemoryStore } from "./_fixture/memory_store.ts";
import {
  ALICE,
  callEvent,
  fillSmallLog,
  handPowers,
  MALLORY,
  TASKS,
} from "./_fixture/small_log.ts";
import { exportReceipts, openLog, verifyReceipt } from "./mod.ts";

const [A, B, C] = TASKS;

async function receiptOf(task: string): Promise<Receipt> {
  const store = makeMemoryStore();
  await fillSmallLog(store);
  const [receipt] = await exportReceipts({ store, task });
  assert.ok(receipt);
  return receipt;
}

Deno.test("receipt: each ended call of a task has one, and it verifies with the public key alone", async () => {
  const store = makeMemoryStore();
  await fillSmallLog(store);
  const kinds = async (task: string, call?: string): Promise<readonly string[]> => {
    const receipts = await exportReceipts({ store, task, ...(call ? { call } : {}) });
    for (const receipt of receipts) {
      assert.deepEqual(verifyReceipt(JSON.parse(JSON.stringify(receipt)), ALICE.publicKey), {
        ok: true,
        reason: "It is whole, and signed with the kernel's key.",
        key: ALICE.publicKey,
      });
    }
    return receipts.map((r) => r.events.map((e) => e.kind).join("+"));
  };
  assert.deepEqual(await kinds(A), ["intent+outcome"]);
  assert.deepEqual(await kinds(B), ["intent+outcome"]);
  assert.deepEqual(await kinds(C), ["refused"]);
  assert.deepEqual(await kinds(A, "c1"), ["intent+outcome"]);
  assert.deepEqual(await kinds(A, "other"), []);
});

Deno.test("receipt: intent and outcome of one commit share its seal", async () => {
  const store = makeMemoryStore();
  const log = await openLog({ store, signer: ALICE, ...handPowers() });
  await log.append("kernel", [{ kind: "kernelStarted", body: {} }]);
  await Promise.all([
    log.append("kernel", [{ kind: "recovered", body: {} }]),
    log.append(A, [callEvent("intent", "c1"), callEvent("outcome", "c1")]),
  ]);
  const [receipt] = await exportReceipts({ store, task: A });
  assert.equal(receipt?.seals.length, 1);
  assert.equal(receipt?.seals[0]?.hashes.length, 3);
  assert.equal(verifyReceipt(receipt, ALICE.publicKey).ok, true);
});

Deno.test("receipt: another implementation of Ed25519 agrees, from the documented bytes", async () => {
  const receipt = await receiptOf(A);
  for (const { prev, hashes, signature, key } of receipt.seals) {
    const message = createHash("sha256").update(`remit seal 1\n${prev}\n${hashes.join("")}`)
      .digest();
    const raw = (text: string): Uint8Array =>
      Uint8Array.fromBase64(text, { alphabet: "base64url" });
    assert.equal(await verifyAsync(raw(signature), message, raw(key)), true);
  }
  for (const { prev, task, n, kind, at, body, hash } of receipt.events) {
    const again = createHash("sha256").update(`remit event 1\n${prev}\n`)
      .update(`${JSON.stringify([task, n, kind, at])}\n`).update(body).digest("hex");
    assert.equal(again, hash);
  }
});

Deno.test("receipt: no byte of it can be changed", async () => {
  const text = new TextEncoder().encode(JSON.stringify(await receiptOf(A)));
  const passed: number[] = [];
  for (let at = 0; at < text.length; at++) {
    for (const mask of [0x01, 0x04, 0x20, 0x80]) {
      const flipped = text.slice();
      flipped[at] = (flipped[at] ?? 0) ^ mask;
      let receipt: unknown;
      try {
        receipt = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(flipped));
      } catch (_error) {
        continue;
      }
      if (verifyReceipt(receipt).ok || verifyReceipt(receipt, ALICE.publicKey).ok) passed.push(at);
    }
  }
  assert.deepEqual(passed, []);
});

Deno.test("receipt: mallory cannot make one, mix two, or leave something out", async () => {
  const [one, two] = [await receiptOf(A), await receiptOf(B)];
  const bad = (receipt: unknown, why: RegExp): void => {
    const verdict = verifyReceipt(receipt, ALICE.publicKey);
    assert.equal(verdict.ok, false, JSON.stringify(receipt).slice(0, 200));
    assert.match(verdict.reason, why);
  };
  const store = makeMemoryStore();
  const log = await openLog({ store, signer: MALLORY, ...handPowers() });
  await log.append(A, [callEvent("outcome", "c1")]);
  const [forged] = await exportReceipts({ store, task: A });
  assert.equal(verifyReceipt(forged).ok, true, "whole in itself, and it says by which key");
  assert.equal(verifyReceipt(forged).key, MALLORY.publicKey);
  bad(forged, /another key/);
  bad({ ...one, seals: one.seals.slice(1) }, /exactly one seal/);
  bad({ ...one, seals: [...one.seals, ...one.seals] }, /exactly one seal/);
  bad({ ...one, events: one.events.slice(0, 1), seals: one.seals.slice(0, 1) }, /outcome/);
  bad({ ...one, events: one.events.slice(1) }, /none of its events/);
  bad({ ...one, events: one.events.toReversed() }, /outcome/);
  bad({ ...one, events: [two.events[0], one.events[1]], seals: one.seals }, /one call/);
  bad({ ...one, extra: 1 }, /not a receipt/);
  bad("text", /not a receipt/);
  bad(null, /not a receipt/);
});
