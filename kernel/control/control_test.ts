import assert from "node:assert/strict";
import { CONTROL_VERSION, Fault, type Json, LeaseId, type Port } from "../../contracts/mod.ts";
import { NO_PEERS } from "../peer/peer_ops.ts";
import { makeControl } from "./control.ts";
import { makeHandlers } from "./operator.ts";
import { NOTHING_TO_WATCH } from "../log/watch.ts";

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
