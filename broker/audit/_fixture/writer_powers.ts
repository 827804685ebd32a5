/**
 * A process that writes to a log until it is killed, or until the disk is full: `PATH kill`, or
 * `PATH full`. Before it continues, it prints on stdout what was acknowledged, one line each.
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { openSqliteStore } from "../../../store/sqlite/mod.ts";
import { LOG_POWERS, openLog, verifyLog } from "../mod.ts";
import { ALICE, callEvent, TASKS } from "./small_log.ts";

const [path = "", mode = ""] = Deno.args;
const store = openSqliteStore({ path });
const log = await openLog({ store, signer: ALICE, ...LOG_POWERS });

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

async function call(task: string, id: number): Promise<void> {
  const version = (await store.document("task", task))?.version ?? 0;
  const [intent] = await log.append(task, [callEvent("intent", `c${id}`)]);
  const [outcome] = await log.append(task, [callEvent("outcome", `c${id}`)], [
    { kind: "task", id: task, task, expect: version, body: { id } },
  ]);
  say(`done ${task} ${intent?.n} ${intent?.hash} ${outcome?.n} ${outcome?.hash} ${log.head()}`);
}

async function untilKilled(): Promise<never> {
  const loops = TASKS.map(async (task): Promise<never> => {
    for (let id = 0;; id++) await call(task, id);
  });
  return await Promise.race(loops);
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "ok";
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

async function verdict(): Promise<string> {
  const { ok, tail } = await verifyLog({ store, publicKey: ALICE.publicKey, head: log.head() });
  return `${ok ? "intact" : "broken"} ${tail}`;
}

/** Fills the disk, keeps trying, waits for room, and continues. */
async function untilFull(): Promise<void> {
  const ballast = `${path}.ballast`;
  await Deno.writeFile(ballast, new Uint8Array(200_000));
  let id = 0;
  const big = (): Promise<unknown> =>
    log.append(TASKS[1], [{ kind: "message", body: {}, private: { text: "x".repeat(9_000) } }]);
  let code = "ok";
  while (code === "ok" && id < 10_000) {
    code = await codeOf(big());
    if (code === "ok") id++;
  }
  const head = log.head();
  const again = [await codeOf(big()), await codeOf(big())];
  const read = (await store.events({ task: TASKS[1], kinds: ["message"], limit: 10_000 })).length;
  say(`full ${code} ${again.join(" ")} ${read === id} ${log.head() === head} ${await verdict()}`);
  await Deno.stdin.read(new Uint8Array(16));
  await Deno.remove(ballast);
  const after = await Promise.all(
    TASKS.map((task) => codeOf(log.append(task, [callEvent("intent", "c")]))),
  );
  say(`room ${after.join(" ")} ${await verdict()}`);
  await store.close();
  const closed = openSqliteStore({ path, readOnly: true });
  const { ok } = await verifyLog({ store: closed, publicKey: ALICE.publicKey, head: log.head() });
  say(`closed ${ok}`);
  await closed.close();
}

await (mode === "full" ? untilFull() : untilKilled());
