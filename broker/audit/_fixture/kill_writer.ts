/** Kills a writing process repeatedly, and checks what it had acknowledged. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Digest } from "../../../contracts/authority/ids.ts";
import { openSqliteStore } from "../../../store/sqlite/mod.ts";
import { openLog, verifyLog } from "../mod.ts";
import { ALICE, handPowers } from "./small_log.ts";

const WRITER = fileURLToPath(new URL("./writer_powers.ts", import.meta.url));

/** Runs a writer and kills it after `lines` acknowledgements; resolves with all its output. */
function runAndKill(deno: string, path: string, lines: number): Promise<readonly string[]> {
  const child = spawn(deno, ["run", "-A", "--quiet", "--no-check", WRITER, path, "kill"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    said += text;
    if (said.split("\n").length > lines) child.kill("SIGKILL");
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (_code, signal) => {
      assert.equal(signal, "SIGKILL");
      // The last line may be cut: then it was not acknowledged.
      resolve(said.split("\n").slice(0, -1));
    });
  });
}

/**
 * Kills a writer of the log at `path` `count` times with SIGKILL, at moments chosen by `seed`.
 * After each kill, everything acknowledged must be there, and the log must verify and accept more. Resolves
 * with the total number of acknowledged calls.
 */
export async function killWriter(
  { deno, path, count, seed }: {
    readonly deno: string;
    readonly path: string;
    readonly count: number;
    readonly seed: number;
  },
): Promise<number> {
  let random = seed;
  let calls = 0;
  const acknowledged = new Map<string, string>();
  for (let run = 0; run < count; run++) {
    random = (random * 1_103_515_245 + 12_345) & 0x7fffffff;
    const lines = await runAndKill(deno, path, 1 + random % 60);
    calls += lines.length;
    let head = "";
    for (const line of lines) {
      const [, task = "", n = "", hash = "", m = "", next = "", now = ""] = line.split(" ");
      acknowledged.set(`${task} ${n}`, hash).set(`${task} ${m}`, next);
      head = now;
    }
    const store = openSqliteStore({ path });
    const why = `run ${run}, seed ${seed}`;
    const kept = Digest.parse(head);
    const report = await verifyLog({ store, publicKey: ALICE.publicKey, head: kept });
    assert.deepEqual([report.ok, report.tail, report.bad], [true, "intact", undefined], why);
    assert.equal(report.contents.unexplained, 0, why);
    const stored = new Map<string, string>();
    for (let after = 0;;) {
      const events = await store.events({ afterSeq: after });
      for (const { task, n, hash } of events) stored.set(`${task} ${n}`, hash);
      if (events.length === 0) break;
      after = events.at(-1)?.seq ?? after;
    }
    for (const [place, hash] of acknowledged) {
      assert.equal(stored.get(place), hash, `${place} ${why}`);
    }
    await openLog({ store, signer: ALICE, ...handPowers() });
    await store.close();
  }
  return calls;
}
