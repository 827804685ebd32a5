/** Commands over tasks, questions, leases, changes and artifacts; templates; shared resources; scratch. @module */
import {
  type FlagSpec,
  MOUNT,
  OF_AGENT,
  PASSPHRASE,
  PROFILE,
  simple,
} from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";

const FOR: FlagSpec = { name: "for", value: "once|turn|session", help: "how long an answer holds" };

const SAY: FlagSpec = { name: "say", value: "TEXT", help: "words to the agent" };

/** Tasks, their questions, leases, changes and artifacts. */
export const TASK = family(
  [
    simple("questions", "", [0, 0], "what waits for you", ["remit questions"]),
    simple("answer", "ID allow|deny", [2, 2], "answer a question; its task goes on", [
      "remit answer q3k9… allow",
      "remit answer q3k9… deny --say 'Keep the old wording'",
    ], [FOR, SAY, PASSPHRASE]),
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
    simple(
      "task extend",
      "TASK NAME=NUMBER",
      [2, 32],
      "raise limits of a task that has not ended",
      ["remit task extend t1 money=2 toolCalls=1000"],
    ),
    simple("kill", "PID [SIGNAL]", [1, 2], "signal a process", [
      "remit kill 4",
      "remit kill 4 STOP",
    ]),
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
      [{ name: "follow", short: "f", help: "wait for more" }],
    ),
    simple(
      "why",
      "TASK [CALL|TOOL]",
      [1, 2],
      "what decided a call, and where each of its values comes from; the last one",
      ["remit why last", "remit why t1 mcp_bank_transfer"],
    ),
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
    simple("sanitize list", "TASK", [1, 1], "what strangers wrote in a task, item by item", [
      "remit sanitize list last",
    ]),
    simple("sanitize show", "ITEM", [1, 1], "all of an item, and what is hidden in it", [
      "remit sanitize show t3k9…/call-1",
      "remit sanitize show notes/letter.md",
    ]),
    simple(
      "sanitize",
      "ITEM",
      [1, 1],
      "sign, by passphrase, that exactly these bytes are trusted further",
      ["remit sanitize t3k9…/call-1", "remit sanitize a3k9… --colour BLUE"],
      [
        { name: "colour", value: "YELLOW|BLUE", help: "how far; YELLOW where nothing is said" },
        PASSPHRASE,
      ],
    ),
  ],
  [...BASIC, "interrupts", "keyboard", "mcpStore", "models"],
  {
    questions: async () => (await import("./question_commands.ts")).questionsCommand,
    answer: async () => (await import("./question_commands.ts")).answerCommand,
    ps: async () => (await import("./commands.ts")).psCommand,
    "task list": async () => (await import("./list.ts")).taskList,
    "task show": async () => (await import("./commands.ts")).taskShow,
    "task cancel": async () => (await import("./commands.ts")).taskChange("cancel"),
    "task archive": async () => (await import("./commands.ts")).taskChange("archive"),
    "task purge": async () => (await import("./commands.ts")).taskChange("purge"),
    "task phase": async () => (await import("./commands.ts")).taskPhase,
    "task extend": async () => (await import("./commands.ts")).taskExtend,
    kill: async () => (await import("./commands.ts")).killCommand,
    diff: async () => (await import("./change_commands.ts")).diffCommand,
    undo: async () => (await import("./change_commands.ts")).undoCommand,
    log: async () => (await import("./log_command.ts")).logCommand,
    why: async () => (await import("../audit/why_command.ts")).whyCommand,
    "lease list": async () => (await import("./lease_commands.ts")).leaseList,
    "lease revoke": async () => (await import("./lease_commands.ts")).leaseRevoke,
    grants: async () => (await import("./lease_commands.ts")).grantsCommand,
    can: async () => (await import("./lease_commands.ts")).canCommand,
    "outbox list": async () => (await import("./lease_commands.ts")).outboxList,
    "outbox show": async () => (await import("./lease_commands.ts")).outboxShow,
    "sanitize list": async () => (await import("./sanitize_commands.ts")).sanitizeList,
    "sanitize show": async () => (await import("./sanitize_commands.ts")).sanitizeShow,
    sanitize: async () => (await import("./sanitize_commands.ts")).sanitizeCommand,
    "outbox release": async () => (await import("./lease_commands.ts")).outboxRelease,
  },
);

/** The typed forms that models fill in. docs/templates.md. */
export const TEMPLATE = family(
  [
    simple("templates list", "", [0, 0], "typed answers that models fill in at fixed steps", [
      "remit templates list",
    ]),
    simple(
      "templates show",
      "NAME[@VERSION]",
      [1, 1],
      "what a model is told, the schema, and a value that fits",
      ["remit templates show intake", "remit run --schema template:code_review -p 'Review it'"],
    ),
  ],
  BASIC,
  {
    "templates list": async () => (await import("../template/commands.ts")).templatesList,
    "templates show": async () => (await import("../template/commands.ts")).templatesShow,
  },
);

/** Claims of tasks on shared resources. docs/shared_resources.md. */
export const RESOURCES = family(
  [
    simple("resources list", "", [0, 0], "which task works on which part of what, and conflicts", [
      "remit resources list",
    ]),
    simple("resources show", "ID", [1, 1], "a resource, a claim or a conflict, whole", [
      "remit resources show gitRepository:site",
      "remit resources show c3k9…",
    ]),
    simple("resources release", "CLAIM", [1, 1], "end a claim: its task is told to stop there", [
      "remit resources release r3k9…",
    ]),
    simple("resources clear", "RESOURCE", [1, 1], "end its claims and take its items away", [
      "remit resources clear taskList:chores",
    ]),
    simple(
      "resources decide",
      "CONFLICT WORD",
      [2, 2],
      "share (both), release (the first gives way) or refuse (the second does)",
      ["remit resources decide c3k9… share"],
    ),
  ],
  BASIC,
  {
    "resources list": async () => (await import("../resources/commands.ts")).resourcesList,
    "resources show": async () => (await import("../resources/commands.ts")).resourcesShow,
    "resources release": async () => (await import("../resources/commands.ts")).resourcesRelease,
    "resources clear": async () => (await import("../resources/commands.ts")).resourcesClear,
    "resources decide": async () => (await import("../resources/commands.ts")).resourcesDecide,
  },
);

/** Scratch folders of finished tasks. docs/shared_resources.md. */
export const WORKSPACES = family(
  [
    simple(
      "workspace list",
      "",
      [0, 0],
      "what tasks that are over left in scratch, and when it expires",
      [
        "remit workspace list",
      ],
    ),
    simple("workspace keep", "TASK", [1, 1], "its scratch does not expire", [
      "remit workspace keep t1",
    ]),
    simple("workspace release", "TASK", [1, 1], "its scratch expires again, 30 days from now", [
      "remit workspace release t1",
    ]),
    simple(
      "workspace promote",
      "TASK",
      [1, 1],
      "take its documents into the wiki, as trusted and as confidential as the task was",
      ["remit workspace promote t1 --wiki ~/notes"],
      [{
        name: "wiki",
        value: "FOLDER",
        help: "which wiki; absent: this folder's or one's above it, else the one last made",
      }],
    ),
  ],
  [...BASIC, "wikis"],
  {
    "workspace list": async () => (await import("./workspace_commands.ts")).workspaceList,
    "workspace keep": async () => (await import("./workspace_commands.ts")).workspaceDecide("keep"),
    "workspace release": async () =>
      (await import("./workspace_commands.ts")).workspaceDecide("release"),
    "workspace promote": async () => (await import("./workspace_promote.ts")).workspacePromote,
  },
);
