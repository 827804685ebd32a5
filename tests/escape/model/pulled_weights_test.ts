import assert from "node:assert/strict";
import { serveLoopback } from "../../../models/_fixture/providers/server.ts";
import { type Finished, type Machine, onMachine } from "../../fake/remit.ts";
import { flipped, SHA256, signer, WEIGHTS } from "../../fake/signed_weights.ts";
import { needs } from "../../needs.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

/** The command line with a catalogue of mallory's in the place of Remit's own. */
async function pulling(
  machine: Machine,
  entry: object,
  words = ["model", "pull", "tiny", "--yes"],
): Promise<Finished> {
  const base = {
    name: "tiny",
    title: "Tiny",
    about: WEIGHTS.length,
    licence: "MIT",
    why: "a test",
  };
  const catalogue = JSON.stringify({ version: 1, models: [{ ...base, ...entry }] });
  const file = await machine.write("catalogue.yaml", catalogue);
  const output = await new Deno.Command("bwrap", {
    args: [
      ...["--dev-bind", "/", "/", "--bind", file, `${ROOT}models/weights/pull/models.yaml`, "--"],
      ...machine.command(words),
    ],
    cwd: machine.dir,
    clearEnv: true,
    env: { ...machine.env },
  }).output();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  return { code: output.code, stdout: text(output.stdout), stderr: text(output.stderr) };
}

Deno.test("a truncated, a longer and another file would have come in over the network", async () => {
  if (!needs("bwrap")) return;
  await onMachine(async (machine) => {
    const serve = (bytes: Uint8Array, cut = false) =>
      serveLoopback(() => ({
        pieces: [bytes],
        cut,
        headers: { "content-type": "application/octet-stream" },
      }));
    const pinned = { sha256: SHA256, bytes: WEIGHTS.length };
    const mallory = signer();
    for (
      const [bytes, cut, entry, code, says] of [
        [WEIGHTS.subarray(0, -5_000), false, pinned, [64, 67], /shorter|bytes|ended|broke/i],
        [WEIGHTS.subarray(0, -5_000), true, pinned, [67], /error reading a body/i],
        [new Uint8Array([...WEIGHTS, 1]), false, pinned, [64], /more than|longer|bytes/i],
        [
          flipped(WEIGHTS),
          false,
          pinned,
          [64],
          /its sha256 is [0-9a-f]{64}, and the catalogue says/,
        ],
        [
          new TextEncoder().encode("<html>".repeat(100)),
          false,
          {},
          [64],
          /does not begin with "GGUF"/,
        ],
        [
          WEIGHTS,
          false,
          { ...pinned, signature: mallory.sign(WEIGHTS) },
          [64],
          /remit\.yaml does not name/,
        ],
        [
          WEIGHTS,
          false,
          { ...pinned, signature: mallory.sign(flipped(WEIGHTS)) },
          [64],
          /signature is wrong/,
        ],
      ] as const
    ) {
      await using server = serve(bytes, cut);
      const done = await pulling(machine, { ...entry, url: `${server.origin}/tiny.gguf` });
      assert.ok((code as readonly number[]).includes(done.code), `${done.code} ${done.stderr}`);
      assert.match(done.stderr, says);
      const left = [...Deno.readDirSync(`${machine.state}/models`)].map(({ name }) => name);
      assert.deepEqual(left.filter((name) => !name.startsWith(".partial")), []);
    }
    // What is right comes in, although pieces of the others were there.
    await using server = serve(WEIGHTS);
    const right = await pulling(machine, { ...pinned, url: `${server.origin}/tiny.gguf` });
    assert.equal(right.code, 0, right.stderr);
    assert.match((await machine.remit(["model", "verify"])).stdout, /✓ tiny/);
    assert.deepEqual(
      [...Deno.readDirSync(`${machine.state}/models`)].map(({ name }) => name).sort(),
      [`${SHA256}.gguf`, `${SHA256}.json`],
    );
  });
});
