import assert from "node:assert/strict";
import { LeaseId } from "../../contracts/authority/mod.ts";
import { Fault, type Json, type Port } from "../../contracts/base/mod.ts";
import { CONTROL_VERSION } from "../../contracts/wire/mod.ts";
import { NOTHING_TO_WATCH } from "../core/log/watch.ts";
import { NO_PEERS } from "../power/peer/peer_ops.ts";
import { makeControl } from "./control.ts";
import { makeIdleWatch } from "./idle_watch.ts";
import { makeHandlers } from "./operator.ts";
import { firstPage, makePages } from "./pages.ts";

type Handler = { ask(op: string, body: Json): Promise<Json> };

Deno.test("an answer of many records comes page by page, to the connection that asked and to no other", async () => {
  const control = makeControl({
    peers: NO_PEERS,
    handlers: {
      auditQuery: async function* () {
        for (let n = 0; n < 1_500; n++) yield await Promise.resolve({ n });
      },
    } as unknown as Parameters<typeof makeControl>[0]["handlers"],
    watching: NOTHING_TO_WATCH,
    note: () => undefined,
    welcome: () => ({
      version: CONTROL_VERSION,
      harness: "h",
      pid: 1,
      receiptKey: "",
      rules: "",
      head: "",
      secrets: "",
    }),
  });
  const connect = async (): Promise<(op: string, body: Json) => Promise<readonly Json[]>> => {
    const joined = Promise.withResolvers<Handler>();
    control.serve((handler) => {
      joined.resolve(handler);
      return { closed: new Promise(() => undefined) } as unknown as Port;
    });
    const { ask } = await joined.promise;
    await ask("hello", { version: CONTROL_VERSION });
    return async (op, body) => await ask(op, body) as readonly Json[];
  };
  const [alice, bob] = [await connect(), await connect()];
  const first = await alice("auditQuery", {});
  assert.deepEqual(await bob("more", null), []);
  const rest = await alice("more", null);
  assert.deepEqual([...first, ...rest], Array.from({ length: 1_500 }, (_, n) => ({ n })));
  assert.deepEqual(await alice("more", null), []);
});

Deno.test("a kernel that is ending would have greeted a command whose question it can no longer answer", async () => {
  const control = makeControl({
    peers: NO_PEERS,
    // No handler is reached here: only greetings are asked.
    handlers: {} as Parameters<typeof makeControl>[0]["handlers"],
    watching: NOTHING_TO_WATCH,
    note: () => undefined,
    welcome: () => ({
      version: CONTROL_VERSION,
      harness: "h",
      pid: 1,
      receiptKey: "",
      rules: "",
      head: "",
      secrets: "",
    }),
  });
  const connect = (): Handler => {
    let joined: Handler | undefined;
    control.serve((handler) => {
      joined = handler;
      return { closed: new Promise(() => undefined) } as unknown as Port;
    });
    assert.ok(joined);
    return joined;
  };
  const early = await connect().ask("hello", { version: CONTROL_VERSION });
  assert.equal((early as { harness: string }).harness, "h");
  control.close();
  await assert.rejects(
    connect().ask("hello", { version: CONTROL_VERSION }),
    (error) => error instanceof Fault && error.code === "gone",
  );
});

Deno.test("a lease that is not there is looked for among the newest tasks only, however long the history", async () => {
  const asked: unknown[] = [];
  const parts = {
    leases: { revoke: () => Promise.resolve([]), list: () => [] },
    service: {
      list(query: { readonly limit?: number }) {
        asked.push(query);
        return Promise.resolve(Array.from({ length: query.limit ?? 10_000 }, (_, id) => ({ id })));
      },
    },
    leasesEver: async (tasks: AsyncIterable<unknown>) =>
      (await Array.fromAsync(tasks)).length > 20 ? assert.fail("all of it is read") : [],
  } as unknown as Parameters<typeof makeHandlers>[0];
  const { revoke } = makeHandlers(parts);
  await assert.rejects(
    async () => await revoke?.({ lease: LeaseId.parse("l000000000000") }),
    /there is none, also among .* last 20 tasks/,
  );
  assert.deepEqual(asked, [{ archived: true, limit: 20 }]);
});

async function* count(to: number, let_go: { at?: number } = {}): AsyncGenerator<object> {
  let n = 0;
  try {
    for (; n < to; n++) yield await Promise.resolve({ n });
  } finally {
    let_go.at = n;
  }
}

Deno.test("more records than a page holds come all, once and in order", async () => {
  const pages = makePages();
  const all: unknown[] = [];
  let page = await pages.open(count(2_500)) as readonly unknown[];
  assert.ok(page.length < 2_500);
  for (; page.length > 0; page = await pages.next() as readonly unknown[]) all.push(...page);
  assert.deepEqual(all, Array.from({ length: 2_500 }, (_, n) => ({ n })));
  assert.deepEqual(await pages.next(), []);
});

Deno.test("a page of large records ends before a frame is full", async () => {
  const large = async function* (): AsyncGenerator<string> {
    for (let n = 0; n < 30; n++) yield await Promise.resolve("x".repeat(3_000_000));
  };
  const pages = makePages();
  const sizes: number[] = [];
  let page = await pages.open(large()) as readonly string[];
  for (; page.length > 0; page = await pages.next() as readonly string[]) {
    sizes.push(JSON.stringify(page).length);
  }
  assert.ok(sizes.length >= 10 && Math.max(...sizes) < 12_000_000, String(sizes));
  assert.equal((await firstPage(large())).length, 3);
});

Deno.test("who asks something else, or leaves, lets go of what was not read", async () => {
  const pages = makePages();
  const [first, second] = [{} as { at?: number }, {} as { at?: number }];
  await pages.open(count(5_000, first));
  await pages.open(count(5_000, second));
  pages.close();
  await Promise.resolve();
  assert.equal(first.at, 999);
  assert.equal(second.at, 999);
  assert.deepEqual(await pages.next(), []);
});

Deno.test("a reader that fails in the midst is told, and not taken for an end", async () => {
  const broken = async function* (): AsyncGenerator<object> {
    for (let n = 0; n < 1_500; n++) yield await Promise.resolve({ n });
    throw new Error("unreadable");
  };
  const pages = makePages();
  await pages.open(broken());
  await assert.rejects(pages.next(), /unreadable/);
});

/** A kernel whose clock is turned by hand. */
function idle(idleMs: number): {
  readonly busy: { now: boolean };
  readonly deserted: { now: boolean };
  readonly ended: number[];
  turn(ms: number): Promise<void>;
  wakes: number;
} {
  let clock = 0;
  let timers: { at: number; f: () => void }[] = [];
  const made = {
    busy: { now: false },
    deserted: { now: false },
    ended: [] as number[],
    wakes: 0,
    async turn(ms: number): Promise<void> {
      for (const end = clock + ms; clock < end;) {
        clock += 500;
        const due = timers.filter(({ at }) => at <= clock);
        timers = timers.filter(({ at }) => at > clock);
        for (const { f } of due) f();
        made.wakes += due.length;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
  makeIdleWatch({
    powers: {
      now: () => clock,
      after(ms, f) {
        timers.push({ at: clock + ms, f });
        return () => undefined;
      },
    },
    idleMs,
    stay: false,
    busy: () => made.busy.now,
    deserted: () => Promise.resolve(made.deserted.now),
    end: () => void made.ended.push(clock),
  }).start();
  return made;
}

Deno.test("a kernel stays as long as it was told after its last work, and sleeps meanwhile", async () => {
  const kernel = idle(600_000);
  kernel.busy.now = true;
  await kernel.turn(100_000);
  kernel.busy.now = false;
  await kernel.turn(590_000);
  assert.deepEqual(kernel.ended, []);
  kernel.busy.now = true;
  await kernel.turn(20_000);
  kernel.busy.now = false;
  await kernel.turn(600_000);
  assert.deepEqual(kernel.ended, []);
  await kernel.turn(40_000);
  assert.equal(kernel.ended.length, 1);
  assert.ok(kernel.wakes <= 1_350_000 / 15_000 + 1);
});

Deno.test("where nobody can come any more it ends at once, but not under its work", async () => {
  const kernel = idle(600_000);
  kernel.busy.now = true;
  kernel.deserted.now = true;
  await kernel.turn(60_000);
  assert.deepEqual(kernel.ended, []);
  kernel.busy.now = false;
  await kernel.turn(16_000);
  assert.equal(kernel.ended.length, 1);
});

Deno.test("a kernel that is to leave soon does", async () => {
  const kernel = idle(2_000);
  await kernel.turn(5_000);
  assert.equal(kernel.ended.length, 1);
});
