import assert from "node:assert/strict";
import { CallId, Digest, ToolName } from "../../../contracts/authority/mod.ts";
import type { JsonObject } from "../../../contracts/base/mod.ts";
import type { ProcessRow, ToolBinding } from "../../../contracts/task/mod.ts";
import { bindCommand } from "../../../tools-wasm/command/mod.ts";
import { WorkspaceRecord } from "../../../workspace/mod.ts";
import { ALICE, granted, isThere, makeBench, TASK } from "../../_fixture/command_bench.ts";
import { HAS_BWRAP } from "../../_fixture/small_children.ts";

Deno.test({
  name: "alice's call goes from its arguments to staged changes that the workspace takes",
  ignore: !HAS_BWRAP || !isThere("/usr/bin/python3"),
  async fn(): Promise<void> {
    const bench = await makeBench({ "b.txt": "b\n" });
    try {
      const records: JsonObject[] = [];
      const caller = {
        ...{ colour: "RED", label: "internal", pid: ALICE, mounts: [{ name: "desk" }] },
      } as unknown as ProcessRow;
      const binding = bindCommand({
        sandbox: { resultBytes: 1_000, deadlineMs: 1_000 } as unknown as ToolBinding,
        descriptor: {} as ToolBinding["descriptor"],
        classes: [{ ...await granted("/usr/bin/python3"), name: "python" }],
        readScope: (path) => ({ resource: "mount", right: "read", path }),
        redeem: () => undefined,
        processOf: () => caller,
        run: (run, signal) =>
          // The bench's leases know mounts only.
          bench.commands.run({
            ...run,
            scopes: run.scopes.filter(({ resource }) => resource === "mount"),
          }, signal),
        fold: (record) => records.push(record),
      });
      const args = {
        program: "python",
        args: ["-c", "import os; open('new', 'w').write('x'); os.remove('b.txt'); print('done')"],
      };
      const call = {
        ...{ task: TASK, pid: ALICE, callId: CallId.parse("c1"), tool: ToolName.parse("command") },
        ...{ args, resolved: binding.resolve(args, caller), token: "t", deadlineMs: 1_000 },
        ...{ idempotencyKey: Digest.parse("0".repeat(64)), resultBytes: 1_000 },
      };
      const result = await binding.invoke(call, new AbortController().signal);
      binding.committed?.(call, result);
      assert.match(
        result.content,
        /^done\n\[staged; [^\n]*\]\n(new desk\/new\n|delete desk\/b\.txt\n){2}/,
      );
      const { staged = [] } = WorkspaceRecord.parse(records[0]);
      assert.deepEqual(
        staged.map(({ path, colour, next }) => [path, colour, next !== undefined]).sort(),
        [["desk/b.txt", "RED", false], ["desk/new", "RED", true]],
      );
    } finally {
      await bench.close();
    }
  },
});
