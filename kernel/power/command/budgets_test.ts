import assert from "node:assert/strict";
import { type Leases, Pid, TaskId } from "../../../contracts/authority/mod.ts";
import type { SessionStart } from "../../../contracts/tool/mod.ts";
import type { Uses } from "../../../contracts/task/spending.ts";
import { type CommandsParts, makeCommands } from "./commands.ts";
import { makeProcessSessions, type ProcessSessionsParts } from "./process_sessions.ts";
import type { CommandRun } from "./run.ts";

const NEVER = new AbortController().signal;
const COMMAND = { name: "make", sha256: "0", session: { ms: 1_000, pty: false } };
const RUN = {
  ...{ task: TaskId.parse("t000000000000"), pid: Pid.parse(2), command: COMMAND, sha256: "0" },
  ...{ args: [], mounts: ["desk"], colour: "BLUE", label: "public" },
  scopes: [{ resource: "mount", right: "read", path: "desk" }],
} as const;

/** Parts over a lease that expires while the budgets are counted. */
function expiring() {
  let [lives, held] = [true, 0];
  const take = async (): Promise<() => void> => {
    held += 1;
    await Promise.resolve();
    lives = false;
    return () => void (held -= 1);
  };
  const uses: Uses = {
    take,
    step: async (_user, _of, { need }) => ({ amount: need, release: await take() }),
    has: () => true,
  };
  const leases = {
    covering: () => lives ? {} : undefined,
    dead: () => lives ? undefined : "expired",
    onEnd: () => () => undefined,
  } as unknown as Leases;
  const parts = {
    ...{ uses, leases, walls: { kind: "walled", identity: "none" } },
    folders: () => ({ mounts: [] }),
    powers: { token: () => "0", after: () => () => undefined, now: () => 0 },
  };
  return { parts: parts as unknown, held: () => held };
}

Deno.test("a lease that expires while the budgets of a program are counted keeps none of them", async () => {
  const { parts, held } = expiring();
  const run = RUN as unknown as CommandRun;
  await assert.rejects(makeCommands(parts as CommandsParts).run(run, NEVER), {
    code: "leaseExpired",
  });
  assert.equal(held(), 0);
});

Deno.test("a lease that expires while the budgets of a session are counted keeps none of them", async () => {
  const { parts, held } = expiring();
  const { start } = makeProcessSessions(parts as ProcessSessionsParts);
  await assert.rejects(start(RUN as unknown as SessionStart, NEVER), { code: "leaseExpired" });
  assert.equal(held(), 0);
});
