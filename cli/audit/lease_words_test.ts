import assert from "node:assert/strict";
import { logLine } from "../task/log_command.ts";

Deno.test("the log says of leases that were granted together what each is, and why", () => {
  const line = logLine({
    ...{ n: 1, at: 0, event: "leaseGranted" },
    body: {
      ...{ pid: 2, expiresAt: 5 },
      leases: [
        { lease: "l1", resource: "model", right: "use" },
        { lease: "l2", resource: "mount", right: "read" },
      ],
    },
    private: { paths: ["", "notes\x1b[2J"], reason: "the task's request" },
  }, 2_000);
  assert.match(line, /leaseGranted {5}use model l1, read mount notes\S+ l2 {2}the task's request$/);
  assert.ok(!line.includes("\x1b"));
});
