import assert from "node:assert/strict";
import { configured, planned } from "../../fake/model_scenes.ts";
import { provideEngine } from "../../fake/native_engine.ts";
import { type Finished, type Machine, onMachine } from "../../fake/remit.ts";
import { flipped, SHA256, sha256Of, signer, WEIGHTS } from "../../fake/signed_weights.ts";
import { needs } from "../../needs.ts";

const AGENT = `agents:
  reader: { name: reader, persona: You read., labels: {}, env: {}, capabilities: [{ tool: file_read }], limits: { iterations: 1, outputTokens: 40 } }
`;

async function stored(
  machine: Machine,
  config = "",
): Promise<(model: string) => Promise<Finished>> {
  await Deno.writeFile(`${machine.dir}/tiny.gguf`, WEIGHTS);
  await configured(machine, `${AGENT}${config}`);
  const mount = await planned(machine);
  const added = await machine.remit(["model", "add", `${machine.dir}/tiny.gguf`]);
  assert.equal(added.code, 0, added.stderr);
  return (model) =>
    machine.remit(["run", "-p", "x", ...mount, "--agent", "reader", "--model", model]);
}

/** Puts other bytes into the store, as a stranger with the person's own rights could. */
async function tamper(machine: Machine, bytes: Uint8Array): Promise<void> {
  const path = `${machine.state}/models/${SHA256}.gguf`;
  await Deno.chmod(path, 0o600);
  await Deno.writeFile(path, bytes);
}

Deno.test("mallory's weights in the store would have been run in place of alice's", async () => {
  await onMachine(async (machine) => {
    const run = await stored(machine);
    const good = await run("tiny");
    assert.ok([0, 65, 66].includes(good.code), good.stderr);
    for (
      const bytes of [
        flipped(WEIGHTS),
        WEIGHTS.subarray(0, -1),
        flipped(WEIGHTS, 100),
        new Uint8Array([...WEIGHTS, 0]),
      ]
    ) {
      await tamper(machine, bytes);
      // The service of the run before holds what was checked then.
      await machine.remit(["stop"]);
      const refused = await run("tiny");
      assert.equal(refused.code, 1, refused.stderr);
      assert.match(
        refused.stderr,
        new RegExp(`its weights ${SHA256.slice(0, 12)} are not what they were`),
      );
      const verify = await machine.remit(["model", "verify", "tiny"]);
      assert.equal(verify.code, 1);
      assert.match(verify.stdout, /✗ tiny +CHANGED on the disk/);
    }
    await Deno.remove(`${machine.state}/models/${SHA256}.gguf`);
    await machine.remit(["stop"]);
    assert.match((await run("tiny")).stderr, /are not in the store/);
    assert.match((await machine.remit(["model", "verify"])).stdout, /its file is gone/);
    assert.equal((await machine.remit(["model", "remove", "tiny"])).code, 0);
    await stored(machine);
    assert.equal((await machine.remit(["model", "verify"])).code, 0);
  });
});

Deno.test("mallory's weights would have been mapped by native code without a look", async () => {
  if (!needs("bwrap")) return;
  await onMachine(async (machine) => {
    await provideEngine();
    const run = await stored(machine, "models: { fast: { ref: tiny, accelerated: true } }\n");
    await tamper(machine, flipped(WEIGHTS));
    const refused = await run("fast");
    assert.equal(refused.code, 1, refused.stderr);
    assert.match(refused.stderr, /are not what they were/);
  });
});

Deno.test("mallory's signature would have passed, and a key that remit.yaml does not name", async () => {
  await onMachine(async (machine) => {
    const [alices, mallorys] = [signer(), signer()];
    await Deno.writeFile(`${machine.dir}/tiny.gguf`, WEIGHTS);
    await configured(machine, `${AGENT}modelKeys: [${alices.key}]\n`);
    const add = async (signature: unknown): Promise<Finished> => {
      const file = await machine.write("signature.json", JSON.stringify(signature));
      return await machine.remit(["model", "add", `${machine.dir}/tiny.gguf`, "--signature", file]);
    };
    const right = alices.sign(WEIGHTS);
    for (
      const [signature, code, says] of [
        [{ ...mallorys.sign(WEIGHTS), key: alices.key }, 64, /signature is wrong/],
        [alices.sign(flipped(WEIGHTS)), 64, /signature is wrong/],
        [{ ...right, key: "ff".repeat(32) }, 64, /signature is wrong/],
        [mallorys.sign(WEIGHTS), 64, /a key that remit\.yaml does not name/],
        [{ key: right.key }, 2, /it is JSON with "key"/],
      ] as const
    ) {
      const refused = await add(signature);
      assert.equal(refused.code, code, refused.stderr);
      assert.match(refused.stderr, says);
      assert.deepEqual(
        [...Deno.readDirSync(`${machine.state}/models`)],
        [],
        "nothing is left of it",
      );
    }
    assert.equal((await add(right)).code, 0);
    assert.match((await machine.remit(["model", "verify"])).stdout, /signed by a key of yours/);
    // Trust that is taken back is taken back for what is here already.
    await configured(machine, `${AGENT}modelKeys: [${mallorys.key}]\n`);
    const run = await machine.remit(["run", "-p", "x", "--agent", "reader", "--model", "tiny"]);
    assert.equal(run.code, 64, run.stderr);
    assert.match(run.stderr, /a key that remit\.yaml does not name/);
    // Nor is a lie in the store's own entry believed.
    await configured(machine, `${AGENT}modelKeys: [${alices.key}]\n`);
    const entry = `${machine.state}/models/${SHA256}.json`;
    const text = await Deno.readTextFile(entry);
    await Deno.writeTextFile(entry, text.replace(right.value, mallorys.sign(WEIGHTS).value));
    const lied = await machine.remit(["run", "-p", "x", "--agent", "reader", "--model", "tiny"]);
    assert.equal(lied.code, 64, lied.stderr);
    assert.match(lied.stderr, /signature is wrong/);
    assert.equal((await machine.remit(["model", "verify"])).code, 1);
  });
});

Deno.test("mallory's file behind a path that alice pinned would have been taken for hers", async () => {
  await onMachine(async (machine) => {
    await stored(machine);
    const path = `${machine.dir}/tiny.gguf`;
    const run = (model: string) =>
      machine.remit(["run", "-p", "x", "--agent", "reader", "--model", model]);
    assert.match((await run(`gguf:${path}`)).stderr, /from now on it means exactly these bytes/);
    const other = flipped(WEIGHTS);
    await Deno.writeFile(path, other);
    for (const named of [`gguf:${path}`, `gguf:${machine.dir}/../work/tiny.gguf`]) {
      const refused = await run(named);
      assert.equal(refused.code, 64, refused.stderr);
      assert.match(refused.stderr, /the file has changed since you pinned it/);
      assert.ok(refused.stderr.includes(sha256Of(other)));
    }
    assert.doesNotMatch(
      (await run("tiny")).stderr,
      /changed since/,
      "the old ones are still there",
    );
    assert.equal((await machine.remit(["model", "remove", "tiny"])).code, 0);
    assert.match((await run(`gguf:${path}`)).stderr, /from now on it means exactly these bytes/);
  });
});

Deno.test("an agent's tools would have reached the folder of weights through a mount", async () => {
  await onMachine(async (machine) => {
    await stored(machine);
    await Deno.symlink(`${machine.state}/models`, `${machine.dir}/innocent`);
    const folders = [
      `${machine.state}/models`,
      machine.state,
      `${machine.state}/..`,
      `${machine.dir}/innocent`,
    ];
    for (const folder of folders) {
      for (const mode of ["", ":rw"]) {
        const refused = await machine.remit([
          "run",
          "-p",
          "x",
          "--mount",
          `w=${folder}${mode}`,
          "--model",
          "tiny",
        ]);
        assert.equal(refused.code, 64, refused.stderr);
        assert.match(refused.stderr, /state/i);
      }
    }
    // And who runs as alice by mistake meets a file that is not to be written.
    const { mode } = await Deno.stat(`${machine.state}/models/${SHA256}.gguf`);
    assert.equal((mode ?? 0) & 0o777, 0o400);
    assert.equal(((await Deno.stat(`${machine.state}/models`)).mode ?? 0) & 0o777, 0o700);
  });
});
