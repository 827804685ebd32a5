/** Damage of a log that was exported as JSON lines: each is found, and the first bad line named. */
import assert from "node:assert/strict";
import { exportLog, verifyLines, type VerifyOptions } from "../../broker/audit/mod.ts";
import { openSqliteStore } from "../../store/sqlite/mod.ts";
import { inHome } from "../fake/kernel.ts";
import { EDITS, makeDesk } from "./desk.ts";

/** The export of a real task's log, and what it is checked against. */
interface Exported {
  readonly lines: readonly string[];
  readonly check: VerifyOptions;
}

async function exported(): Promise<Exported> {
  const made: Exported[] = [];
  await inHome(async (home) => {
    await makeDesk(home.desk);
    const kernel = await home.start();
    const task = await kernel.run({ scenario: EDITS });
    await (await kernel.follow(task, { answer: "allow" })).end;
    const { head } = await kernel.ask("auditVerify", {}) as { head: string };
    await kernel.stop();
    const store = openSqliteStore({ path: `${home.config.dir}/remit.db`, readOnly: true });
    const lines = await Array.fromAsync(exportLog(store));
    await store.close();
    const publicKey = kernel.receiptKey;
    made.push({ lines, check: { publicKey, head: head as NonNullable<VerifyOptions["head"]> } });
  });
  const [first] = made;
  assert.ok(first);
  return first;
}

Deno.test("every line of an export that is dropped, doubled, moved or cut off is found", async () => {
  const { lines, check } = await exported();
  assert.deepEqual((await verifyLines(lines, check)).tail, "intact");
  assert.ok(lines.length > 20, `${lines.length} lines`);
  const { publicKey } = check;
  // Line 0 says what the file is; line N holds the event in place N.
  for (let n = 1; n < lines.length; n++) {
    const dropped = await verifyLines(lines.toSpliced(n, 1), check);
    // Without the last seal, its whole group is covered by none.
    const named = n === lines.length - 1 ? dropped.bad?.seq : n;
    assert.deepEqual([dropped.ok, dropped.bad?.seq], [false, named], `line ${n} dropped`);
    const doubled = await verifyLines(lines.toSpliced(n, 0, lines[n] ?? ""), check);
    assert.deepEqual([doubled.ok, doubled.bad?.seq], [false, n + 1], `line ${n} doubled`);
    const cut = await verifyLines(lines.slice(0, n), check);
    assert.equal(cut.ok, false, `cut off before line ${n}`);
    const blind = await verifyLines(lines.slice(0, n), { publicKey });
    assert.equal(blind.tail, "unchecked", "without a head a shorter log is a log");
    if (n === 1) continue;
    const swapped = lines.with(n - 1, lines[n] ?? "").with(n, lines[n - 1] ?? "");
    const moved = await verifyLines(swapped, check);
    assert.deepEqual([moved.ok, moved.bad?.seq], [false, n - 1], `lines ${n - 1} and ${n} swapped`);
  }
});
