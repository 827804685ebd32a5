import assert from "node:assert/strict";
import { rejectsWith } from "../../store/_fixture/contract_suite.ts";
import { KEY_POWERS, loadOrMakeReceiptKey, makeSignatureCheck, makeSigner } from "./mod.ts";

const MESSAGE = new Uint8Array([1, 2, 3]);

Deno.test("receipt key: it is made once, 0600, and the same ever after", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const path = `${dir}/receipt.key`;
    const made = await loadOrMakeReceiptKey({ powers: KEY_POWERS, path });
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    const again = await loadOrMakeReceiptKey({ powers: KEY_POWERS, path });
    assert.equal(again.publicKey, made.publicKey);
    assert.match(made.publicKey, /^[\w-]{43}$/);
    assert.equal(makeSignatureCheck(made.publicKey)(MESSAGE, again.sign(MESSAGE)), true);
    await assert.rejects(KEY_POWERS.writeNew(path, MESSAGE, 0o600), /EEXIST/);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("receipt key: a file that holds none is an error, and is left as it is", async () => {
  const written: string[] = [];
  const powers = {
    read: () => Promise.resolve(new TextEncoder().encode("not a key\n")),
    writeNew: (path: string) => Promise.resolve(void written.push(path)),
    random: (length: number) => new Uint8Array(length),
  };
  await rejectsWith("invalidInput", loadOrMakeReceiptKey({ powers, path: "key" }));
  assert.deepEqual(written, []);
});

Deno.test("receipt key: another key, message or signature does not pass", () => {
  const [alice, mallory] = [1, 2].map((n) => makeSigner(new Uint8Array(32).fill(n)));
  assert.ok(alice && mallory);
  const check = makeSignatureCheck(alice.publicKey);
  assert.equal(check(MESSAGE, alice.sign(MESSAGE)), true);
  assert.equal(check(MESSAGE, mallory.sign(MESSAGE)), false);
  assert.equal(check(MESSAGE.slice(1), alice.sign(MESSAGE)), false);
  assert.equal(check(MESSAGE, alice.sign(MESSAGE).slice(1)), false);
  assert.throws(() => makeSignatureCheck("short"), /public key/);
  assert.throws(() => makeSigner(new Uint8Array(31)), /32 bytes/);
});
