/** Every command: its words, its flags, its examples. Help and parsing read this one table. @module */

import {
  ANSWERS,
  type CommandSpec,
  type FlagSpec,
  MODEL,
  MOUNT,
  OF_AGENT,
  ON_QUESTION,
  PROFILE,
  simple,
  TRACE,
  WIKI,
} from "./command_spec.ts";
import { A2A_COMMANDS } from "../a2a/command_table.ts";
import { MODEL_COMMANDS, MODEL_FLAGS } from "../model/command/table.ts";
import { CONTEXT_COMMANDS } from "../conversation/command_table.ts";
import { PLUGIN_COMMANDS } from "../plugin/command_table.ts";
import { SETUP_COMMANDS } from "../setup/command_table.ts";
import { SEMANTIC_COMMANDS } from "../sgrep/sgrep_command_table.ts";
import { MCP_COMMANDS } from "../mcp/command/table.ts";
import { MCP_SERVE_COMMANDS } from "../mcp_serve/command_table.ts";
import { SERVICE_COMMANDS, TRIGGER_COMMANDS } from "../service/command_table.ts";
import { INBOX_COMMANDS } from "../inbox/command_table.ts";
import { MAIL_COMMANDS } from "../mail/command_table.ts";
import { WIKI_COMMANDS } from "../wiki/command/table.ts";
export type { CommandSpec, FlagSpec };

/** Flags that every command takes. */
export const COMMON_FLAGS: readonly FlagSpec[] = [
  { name: "state", value: "DIR", help: "where Remit keeps its state" },
  { name: "json", help: "print one JSON document, or JSON lines for a stream" },
  { name: "help", short: "h", help: "show this" },
  { name: "version", short: "V", help: "show the version" },
];

const RUN_FLAGS: readonly FlagSpec[] = [
  { name: "request", short: "p", value: "TEXT", help: "what to do; - reads standard input" },
  MOUNT,
  MODEL,
  ...MODEL_FLAGS,
  { name: "agent", value: "NAME", help: "an agent that remit.yaml describes" },
  PROFILE,
  ON_QUESTION,
  ANSWERS,
  TRACE,
  WIKI,
  {
    name: "output-format",
    value: "text|json|stream-json",
    help: "json is --json; stream-json: JSON lines as they happen, the document last",
  },
  {
    name: "story",
    value: "NAME",
    help: "play a story: desk (the demo), exec, web, wiki, mcp, a2a",
  },
  { name: "plan", help: "only read and propose: nothing may be staged or applied" },
];
const FOR: FlagSpec = { name: "for", value: "once|turn|session", help: "how long an answer holds" };
const SAY: FlagSpec = { name: "say", value: "TEXT", help: "words to the agent" };
const KERNEL_KEY: FlagSpec = {
  name: "key",
  value: "PUB",
  help: "the kernel's public key, base64url; audit verify shows it",
};
const PASSPHRASE: FlagSpec = {
  name: "passphrase-file",
  value: "FILE",
  help: "read the passphrase from a file instead of the terminal",
};

/** Every command, in the order in which help lists them. */
export const COMMANDS: readonly CommandSpec[] = [
  simple("", "", [0, 0], "open a session over this folder", ["remit", "remit -c"], [
    { name: "continue", short: "c", help: "go on with the last session" },
    { name: "name", value: "NAME", help: "with -c: go on with the conversation of this name" },
    MOUNT,
    MODEL,
    ...MODEL_FLAGS,
    WIKI,
    TRACE,
  ]),
  simple("run", "[REQUEST | -]", [0, 1], "hand an agent one request; without any, the demo", [
    "remit run",
    "remit run -p 'Tidy my notes' --mount desk=~/notes --model ollama:qwen3:4b",
    "git diff | remit run - --mount code=.:ro --model anthropic:NAME",
  ], RUN_FLAGS),
  simple("questions", "", [0, 0], "what waits for you", ["remit questions"]),
  simple("answer", "ID allow|deny", [2, 2], "answer a question; its task goes on", [
    "remit answer q3k9… allow",
    "remit answer q3k9… deny --say 'Keep the old wording'",
  ], [FOR, SAY, PASSPHRASE]),
  simple("resume", "TASK|NAME", [1, 1], "go on with a task that stopped or waits", [
    "remit resume t1",
  ], [
    TRACE,
  ]),
  simple("ps", "", [0, 0], "running processes", ["remit ps", "remit ps --labels tier=worker"], [
    ...OF_AGENT,
  ]),
  simple("task list", "", [0, 0], "tasks: state, age and request; also: remit tasks", [
    "remit tasks",
    "remit task list --status needsApproval --since 2d",
  ], [
    { name: "status", value: "WORD", help: "in one state: open, needsApproval, done, failed, …" },
    { name: "since", value: "TIME", help: "begun since a date, or how long ago: 30m, 2h, 7d" },
    { name: "limit", value: "N", help: "the newest N; 50 where nothing is said" },
    { name: "before", value: "TASK", help: "those before this task" },
    { name: "all", help: "all of them, also those that were put away" },
    ...OF_AGENT,
  ]),
  simple("task show", "[TASK]", [0, 1], "one task, by its id, its first letters, or last", [
    "remit task show last",
  ]),
  simple("task cancel", "TASK", [1, 1], "end a task", ["remit task cancel t1"]),
  simple("task archive", "TASK", [1, 1], "put a finished task away", ["remit task archive t1"]),
  simple("task purge", "TASK", [1, 1], "erase a task's content; its chain stays", [
    "remit task purge t1",
  ]),
  simple("task phase", "TASK plan|work|apply|review", [2, 2], "move a task that has not ended", [
    "remit task phase t1 work",
  ]),
  simple("task extend", "TASK NAME=NUMBER", [2, 32], "raise limits of a task that has not ended", [
    "remit task extend t1 money=2 toolCalls=1000",
  ]),
  simple("kill", "PID [SIGNAL]", [1, 2], "signal a process", ["remit kill 4", "remit kill 4 STOP"]),
  simple("diff", "TASK", [1, 1], "what a task staged or changed", ["remit diff t1"]),
  simple("undo", "TASK", [1, 1], "take back what a task applied last", [
    "remit undo t1",
    "remit undo t1 --file desk/plan.md",
  ], [
    { name: "file", value: "PATH", many: true, help: "this file alone, named as diff names it" },
  ]),
  simple(
    "log",
    "TASK",
    [1, 1],
    "everything a task did",
    ["remit log t1", "remit log t1 --follow"],
    [
      { name: "follow", short: "f", help: "wait for more" },
    ],
  ),
  simple("audit verify", "[FILE]", [0, 1], "check every chain and seal, of the log or an export", [
    "remit audit verify",
    "remit audit verify --head 3fa2…",
    "remit audit verify log.jsonl --key PUB",
  ], [
    { name: "head", value: "HASH", help: "a head that you kept: detects a cut tail" },
    KERNEL_KEY,
  ]),
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
  simple("receipt show", "TASK", [1, 1], "a task's receipts", ["remit receipt show t1"]),
  simple("receipt export", "TASK", [1, 1], "receipts as JSON lines, for others", [
    "remit receipt export t1 > receipts.jsonl",
  ]),
  simple("receipt verify", "FILE", [1, 1], "check receipts without a kernel", [
    "remit receipt verify receipts.jsonl --key PUB",
  ], [KERNEL_KEY]),
  simple("lease list", "[TASK]", [0, 1], "what is lent to whom", ["remit lease list"], [
    { name: "all", help: "also what was lent to tasks that have ended" },
  ]),
  simple("lease revoke", "LEASE", [1, 1], "take a lease back, now", ["remit lease revoke l3k9…"]),
  simple("grants", "[TASK]", [0, 1], "answers that still hold", ["remit grants"]),
  simple("can", "AGENT TOOL JSON", [3, 3], "which rule would decide a call, and why", [
    `remit can agent file_read '{"path":"desk/keys.env"}' --mount desk=.`,
  ], [PROFILE, MOUNT]),
  simple("outbox list", "[TASK]", [0, 1], "what agents made for you", ["remit outbox list"]),
  simple("outbox show", "ARTIFACT", [1, 1], "one of them", ["remit outbox show a3k9…"]),
  simple("outbox release", "ARTIFACT", [1, 1], "let it out of quarantine", [
    "remit outbox release a3k9…",
  ]),
  simple("trust", "[DIR]", [0, 1], "accept a folder's remit.yaml as it is now", [
    "remit trust",
    "remit trust --revoke",
  ], [{ name: "revoke", help: "no longer accept it" }]),
  simple("key create", "", [0, 0], "make your passphrase key, for the gravest questions", [
    "remit key create",
  ], [PASSPHRASE]),
  simple("key show", "", [0, 0], "your public keys", ["remit key show"]),
  simple("key rotate", "", [0, 0], "replace your passphrase key", ["remit key rotate"], [
    PASSPHRASE,
    { name: "new-passphrase-file", value: "FILE", help: "where the new passphrase is" },
  ]),
  ...MCP_COMMANDS,
  ...A2A_COMMANDS,
  ...MCP_SERVE_COMMANDS,
  ...SERVICE_COMMANDS,
  ...TRIGGER_COMMANDS,
  ...INBOX_COMMANDS,
  ...MAIL_COMMANDS,
  ...WIKI_COMMANDS,
  ...SEMANTIC_COMMANDS,
  ...MODEL_COMMANDS,
  ...CONTEXT_COMMANDS,
  ...PLUGIN_COMMANDS,
  ...SETUP_COMMANDS,
  simple("doctor", "", [0, 0], "which walls stand on this machine", ["remit doctor"]),
  simple("stop", "", [0, 0], "end the kernel, which else stays ten minutes after its last work", [
    "remit stop",
  ], [{ name: "force", help: "also under tasks at work: the next kernel goes on with them" }]),
];

/** Finds a command by its words. */
export function findCommand(name: string): CommandSpec | undefined {
  return COMMANDS.find((command) => command.name === name);
}
