/** The commands over the log and receipts. @module */
import { type FlagSpec, OF_AGENT, simple } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";

const KERNEL_KEY: FlagSpec = {
  name: "key",
  value: "PUB",
  help: "the kernel's public key, base64url; audit verify shows it",
};

/** The commands over the log and receipts. */
export const RECORD = family(
  [
    simple(
      "audit verify",
      "[FILE]",
      [0, 1],
      "check every chain and seal, of the log or an export",
      [
        "remit audit verify",
        "remit audit verify --head 3fa2…",
        "remit audit verify log.jsonl --key PUB",
      ],
      [
        { name: "head", value: "HASH", help: "a head that you kept: detects a cut tail" },
        KERNEL_KEY,
      ],
    ),
    simple("audit export", "", [0, 0], "the whole log as JSON lines, to keep and check elsewhere", [
      "remit audit export > log.jsonl",
    ]),
    simple("audit query", "", [0, 0], "executed calls, one JSON line each", [
      "remit audit query --tool file_read --decision forbidden",
      "remit audit query --since 2h",
    ], [
      { name: "since", value: "TIME", help: "a date, or how long ago: 30m, 2h, 7d" },
      { name: "task", value: "TASK", help: "of one task" },
      { name: "tool", value: "NAME", help: "of one tool" },
      { name: "model", value: "NAME", help: "proposed by one model" },
      { name: "decision", value: "WORD", help: "decided so: auto, consented, forbidden, …" },
      { name: "outcome", value: "WORD", help: "ended so: ok, refusedByPolicy, …" },
      ...OF_AGENT,
    ]),
    simple("audit repair", "", [0, 0], "cut off a torn tail, and say what went", [
      "remit audit repair",
    ]),
    simple("cost", "", [0, 0], "what models cost, by model, agent, day, month, who or what asked", [
      "remit cost",
      "remit cost --by day --since 7d",
      "remit cost --by agent --chart",
    ], [
      {
        name: "by",
        value: "model|agent|day|month|principal|trigger",
        help: "how to sum; absent: model",
      },
      { name: "since", value: "TIME", help: "a date, or how long ago: 2h, 7d; absent: 31 days" },
      { name: "chart", help: "a bar for each day, split by what --by names" },
    ]),
    simple("receipt show", "TASK", [1, 1], "a task's receipts", ["remit receipt show t1"]),
    simple("receipt export", "TASK", [1, 1], "receipts as JSON lines, for others", [
      "remit receipt export t1 > receipts.jsonl",
    ]),
    simple("receipt verify", "FILE", [1, 1], "check receipts without a kernel", [
      "remit receipt verify receipts.jsonl --key PUB",
    ], [KERNEL_KEY]),
  ],
  [...BASIC, "logs", "receipts"],
  {
    "audit verify": async () => (await import("./audit_log.ts")).auditVerify,
    "audit export": async () => (await import("./audit_log.ts")).auditExport,
    "audit query": async () => (await import("./commands.ts")).auditQuery,
    cost: async () => (await import("./cost_command.ts")).costCommand,
    "audit repair": async () => (await import("./commands.ts")).auditRepair,
    "receipt show": async () => (await import("./commands.ts")).receiptShow,
    "receipt export": async () => (await import("./commands.ts")).receiptExport,
    "receipt verify": async () => (await import("./commands.ts")).receiptVerify,
  },
);
