import { deepEqual } from "node:assert/strict";
import { Pid } from "../../contracts/authority/ids.ts";
import type { ProcessRow } from "../../contracts/task/mod.ts";
import type { ForeignAgent } from "../../contracts/tool/foreign_agent.ts";
import { makeForeignPort } from "./foreign_port.ts";

Deno.test("a call of an agent of others is judged by what its copy holds", async () => {
  const did: unknown[] = [];
  // TRUST: what of a process and an agent the port reads.
  const row = {
    ...{ pid: Pid.parse(2), colour: "BLUE", label: "public" },
    snapshot: {
      id: "s",
      tools: [{ name: "mcp_mail_send", description: "", permission: "consent", paramSchema: "{}" }],
    },
  } as unknown as ProcessRow;
  const port = makeForeignPort({
    gate: {
      call(_pid, { name }) {
        did.push(name);
        return Promise.resolve({
          ...{ callId: "c" as never, outcome: "ok", content: "", colour: "RED", label: "secret" },
        });
      },
    },
    infer: () => () => Promise.reject(new Error("nobody infers here")),
    taint: (pid, { colour, label }) => void did.push([pid, colour, label]),
    exhausted: () => {},
  }, {
    row,
    agent: { name: "codex" } as unknown as ForeignAgent,
    shown: () => ({ colour: "YELLOW", label: "secret" }),
  });
  await port.call({ id: "c1", tool: "mcp_mail_send", args: "{}" }, new AbortController().signal);
  deepEqual(did, [[2, "YELLOW", "secret"], "mcp_mail_send"]);
});
