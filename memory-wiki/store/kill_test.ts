/** kill -9 at random moments. REMIT_WIKI_KILLS sets how many of each kind; REMIT_SEED repeats a run. */
import assert from "node:assert/strict";
import { startWriter } from "./_fixture/processes.ts";
import { assertNoHalfPage, assertSound } from "./_fixture/sound.ts";
import { makeRig, named, type Rig } from "./_fixture/wiki_rig.ts";
import { BATCH, ingested, PAGES } from "./_fixture/writer.ts";

const ROUNDS = Number(Deno.env.get("REMIT_WIKI_KILLS") ?? 8);
const SEED = Number(Deno.env.get("REMIT_SEED") ?? Date.now() % 1_000_000);

/** Numbers from 0 to 1 that a seed repeats. */
function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Lets a writer work for a random while, kills it, and gives the last thing that it promised. */
async function killed(rig: Rig, mode: "ingest" | "apply", name: string, random: () => number) {
  const writer = startWriter(rig, mode, name);
  let last = await writer.line();
  if (last === undefined) assert.fail(await writer.ended());
  for (let more = Math.floor(random() * 4); more > 0; more--) last = await writer.line() ?? last;
  const wait = random() * 25;
  // TIMER: the moment of the kill is what is tried.
  await new Promise((resolve) => setTimeout(resolve, wait));
  writer.kill();
  for (let said = await writer.line(); said !== undefined; said = await writer.line()) last = said;
  await writer.ended();
  return last;
}

Deno.test("nothing is half and nothing promised is lost when an ingest is killed at random moments (long)", async () => {
  const random = dice(SEED);
  using rig = makeRig();
  for (let round = 0; round < ROUNDS; round++) {
    const name = `round${round}`;
    const last = Number(await killed(rig, "ingest", name, random));
    const { store } = await rig.open({ create: false });
    await assertSound(rig, store);
    for (let n = (last + 1) * BATCH - 3; n < (last + 1) * BATCH; n++) {
      const [key] = ingested(name, n);
      assert.ok(store.sources.current(key), `seed ${SEED}: ${key} was promised and is lost`);
    }
    // All of a batch or none.
    const versions = store.sources.list({ keyPrefix: `file:/${name}/` }).length;
    assert.equal(versions % BATCH, 0, `seed ${SEED}: half a batch`);
    store.close();
  }
});

Deno.test("no page is half, and no patch, when applying is killed at random moments (long)", async () => {
  const random = dice(SEED + 1);
  using rig = makeRig();
  for (let round = 0; round < ROUNDS; round++) {
    const last = await killed(rig, "apply", `round${round}`, random);
    const promised = Number(
      /^applied (\d+)$/.exec(last)?.[1] ?? assert.fail(`seed ${SEED}: ${last}`),
    );
    assertNoHalfPage(rig);
    const { store } = await rig.open({ create: false });
    await assertSound(rig, store);
    const versions = Array.from(
      { length: PAGES },
      (_, n) => store.pages.get(named(`page-${n}`))?.version,
    );
    assert.equal(new Set(versions).size, 1, `seed ${SEED}: half a patch: ${versions}`);
    assert.ok((versions[0] ?? 0) >= promised, `seed ${SEED}: version ${promised} was promised`);
    store.close();
  }
});
