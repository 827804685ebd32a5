/** alice makes, shows and replaces the key for the gravest questions; the doctor looks at her machine. */
import assert from "node:assert/strict";
import * as z from "zod";
import { onMachine } from "../fake/remit.ts";

const Keys = z.object({ consent: z.string().min(40), stepUp: z.string().nullable() });
const Checkup = z.object({
  version: z.string(),
  walls: z.array(z.object({ wall: z.string(), stands: z.boolean(), says: z.string() })).min(3),
  state: z.string(),
  stepUpKey: z.string().nullable(),
});

Deno.test("alice makes a passphrase key and replaces it, and only the right passphrase does that", async () => {
  await onMachine(async (machine) => {
    await machine.write("old", "correct horse\n");
    await machine.write("new", "battery staple\n");
    const show = async (): Promise<z.infer<typeof Keys>> =>
      Keys.parse(await machine.json(["key", "show"]));
    const before = await show();
    assert.equal(before.stepUp, null);
    assert.equal((await machine.remit(["key", "create"])).code, 2, "no terminal, no file");

    const made = await machine.remit(["key", "create", "--passphrase-file", "old"]);
    assert.equal(made.code, 0, made.stderr);
    const first = await show();
    assert(first.stepUp !== null && made.stdout.includes(first.stepUp));
    assert.equal(first.consent, before.consent);
    assert.equal((await machine.remit(["key", "create", "--passphrase-file", "old"])).code, 1);

    const rotate = (given: string): ReturnType<typeof machine.remit> =>
      machine.remit([
        "key",
        "rotate",
        "--passphrase-file",
        given,
        "--new-passphrase-file",
        "new",
      ]);
    const wrong = await rotate("new");
    assert.notEqual(wrong.code, 0);
    assert.deepEqual(await show(), first, "the wrong passphrase changes nothing");
    assert.equal((await rotate("old")).code, 0);
    const second = await show();
    assert(second.stepUp !== null && second.stepUp !== first.stepUp);

    // The files are hers alone, and hold no passphrase.
    for await (const file of Deno.readDir(`${machine.state}/person`)) {
      const path = `${machine.state}/person/${file.name}`;
      assert.equal(((await Deno.stat(path)).mode ?? 0o777) & 0o077, 0, path);
      const text = await Deno.readTextFile(path);
      assert(!text.includes("horse") && !text.includes("staple"), path);
    }
  });
});

Deno.test("alice asks the doctor which walls stand, with and without a kernel", async () => {
  await onMachine(async (machine) => {
    const checkup = Checkup.parse(await machine.json(["doctor"]));
    assert.equal(checkup.state, machine.state);
    assert(checkup.walls.every(({ wall, says }) => wall !== "" && says !== ""));
    const words = await machine.remit(["doctor"]);
    assert.equal(words.code, 0);
    assert.match(words.stdout, /^Walls$/m);
    for (const { wall } of checkup.walls) assert(words.stdout.includes(wall), wall);
  });
});
