/** alice hands her log to carol, who checks it on a machine without a kernel; mallory changes it on the way. */
import assert from "node:assert/strict";
import * as z from "zod";
import { onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { alicesPlans, playing } from "../fake/scenes.ts";

const READS = `
scenario: reads
turns:
  - calls: [{ tool: file_read, args: { path: plans/trip.txt } }]
  - say: You leave on Monday.
`;
const Report = z.object({
  ok: z.boolean(),
  key: z.string().length(43),
  head: z.string(),
  events: z.int(),
  tail: z.string(),
  bad: z.object({ seq: z.int() }).optional(),
});

Deno.test("carol checks alice's log without a kernel, and sees what mallory changed in it", async () => {
  await onMachine(async (alice) => {
    const words = [...await alicesPlans(alice), ...await playing(alice, READS)];
    readRun((await alice.remit(["run", "-p", "Read", "--json", ...words])).stdout);
    const own = Report.parse(await alice.json(["audit", "verify"]));
    const exported = await alice.remit(["audit", "export"]);
    assert.equal(exported.code, 0, exported.stderr);
    assert.match(
      exported.stderr,
      new RegExp(`audit verify FILE --key ${own.key} --head [0-9a-f]{64}`),
    );
    const lines = exported.stdout.trimEnd().split("\n");
    assert.ok(lines.length > own.events, "a first line, and one for each event");

    await onMachine(async (carol) => {
      const file = await carol.write("log.jsonl", exported.stdout);
      const check = async (...more: string[]): Promise<z.infer<typeof Report>> => {
        const done = await carol.remit(["audit", "verify", file, "--json", ...more]);
        const report = Report.parse(JSON.parse(done.stdout));
        assert.equal(done.code, report.ok ? 0 : 1, done.stderr);
        return report;
      };
      assert.deepEqual([(await check()).ok, (await check()).key], [true, own.key]);
      const whole = await check("--key", own.key, "--head", own.head);
      assert.deepEqual([whole.ok, whole.tail], [true, "intact"]);
      assert.deepEqual(await carol.processes(), [], "nothing was started for it");
      // Another's key, and a head that the log does not reach.
      const stranger = `${own.key.startsWith("A") ? "B" : "A"}${own.key.slice(1)}`;
      const wrongKey = await carol.remit(["audit", "verify", file, "--json", "--key", stranger]);
      assert.notEqual(wrongKey.code, 0);
      assert.equal((await check("--head", "f".repeat(64))).tail, "cut");

      for (const at of [2, Math.floor(lines.length / 2)]) {
        await carol.write("log.jsonl", `${lines.toSpliced(at, 1).join("\n")}\n`);
        assert.deepEqual((await check("--key", own.key)).bad?.seq, at, `without line ${at}`);
      }
      // Cut off before its last seal, it is a shorter log: the head that alice kept tells.
      await carol.write("log.jsonl", `${lines.slice(0, 2).join("\n")}\n`);
      assert.equal((await check("--key", own.key, "--head", own.head)).ok, false);

      await carol.write("log.jsonl", "no log\n");
      const none = await carol.remit(["audit", "verify", file]);
      assert.equal(none.code, 2, none.stderr);
      assert.equal((await carol.remit(["audit", "verify", "missing.jsonl"])).code, 2);
      assert.equal((await carol.remit(["audit", "verify", "--key", own.key])).code, 2);
    });
  });
});
