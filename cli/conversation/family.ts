/** The commands over conversations: their compaction, names and forks. @module */
import { type CommandSpec, MODEL, simple, TRACE } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";

const NAME = { name: "name", value: "NAME", help: "a name for the fork" } as const;

const CONTEXT_COMMANDS: readonly CommandSpec[] = [
  simple("ctx list", "TASK", [1, 1], "when a conversation was shortened, and how", [
    "remit ctx list t1",
  ]),
  simple("ctx show", "TASK N", [2, 2], "the messages that gave way, whole", [
    "remit ctx show t1 2",
  ]),
  simple("ctx restore", "TASK N", [2, 2], "put them back, between turns, if they fit", [
    "remit ctx restore t1 2",
  ]),
  simple("conversation list", "", [0, 0], "conversations with a name; expired ones are erased", [
    "remit conversation list",
  ]),
  simple("conversation name", "TASK NAME", [2, 2], "give a task's conversation a name", [
    "remit conversation name t1 trip",
  ]),
  simple("conversation show", "NAME[@TURN]", [1, 1], "its messages, as they were after a turn", [
    "remit conversation show trip",
    "remit conversation show trip@2",
  ]),
  simple(
    "conversation fork",
    "NAME[@TURN]",
    [1, 1],
    "a new task whose conversation begins as this one, up to the end of a turn",
    [
      "remit conversation fork trip@2 --name other-trip",
      "remit conversation fork trip --message 'And by boat?'",
      "remit -c --name other-trip",
    ],
    [
      NAME,
      { name: "message", value: "TEXT", help: "what to say to it; without it, it waits" },
      MODEL,
      TRACE,
    ],
  ),
  simple(
    "conversation compare",
    "A[@TURN] B[@TURN]",
    [2, 2],
    "how far two are the same, then how not",
    ["remit conversation compare trip other-trip"],
  ),
  simple("conversation expire", "NAME", [1, 1], "erase its task after some time", [
    "remit conversation expire trip --after 7d",
    "remit conversation expire trip --after never",
  ], [{ name: "after", value: "TIME", help: "30m, 2h, 7d, or never" }]),
  simple("conversation remove", "NAME", [1, 1], "take the name away; the task stays", [
    "remit conversation remove trip",
  ]),
];

/** The commands over conversations. */
export const CONVERSATION = family(CONTEXT_COMMANDS, [
  ...BASIC,
  "interrupts",
  "keyboard",
  "mcpStore",
  "models",
  "wikis",
], {
  "ctx list": async () => (await import("./ctx_commands.ts")).ctxList,
  "ctx show": async () => (await import("./ctx_commands.ts")).ctxShow,
  "ctx restore": async () => (await import("./ctx_commands.ts")).ctxRestore,
  "conversation list": async () => (await import("./commands.ts")).conversationList,
  "conversation name": async () => (await import("./commands.ts")).conversationName,
  "conversation show": async () => (await import("./commands.ts")).conversationShow,
  "conversation fork": async () => (await import("./commands.ts")).conversationFork,
  "conversation compare": async () => (await import("./commands.ts")).conversationCompare,
  "conversation expire": async () => (await import("./commands.ts")).conversationExpire,
  "conversation remove": async () => (await import("./commands.ts")).conversationRemove,
});
