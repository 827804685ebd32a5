/** `sgrep` and `sdiff`, for help, parsing and dispatch. @module */
import { type CommandSpec, type FlagSpec, simple } from "../arguments/command_spec.ts";
import { ASKED, LABEL, maxCost } from "../wiki/command/family.ts";
import { family } from "../arguments/family.ts";

const VERBOSE: FlagSpec = { name: "verbose", help: "a line on standard error for each document" };
const TEXTS: FlagSpec = { ...LABEL, help: "how confidential the documents are; absent: internal" };

/** The two commands that search and compare by meaning. */
const SEMANTIC_COMMANDS: readonly CommandSpec[] = [
  simple(
    "sgrep",
    "--mode MODE QUERY PATH...",
    [1, 1_000],
    "documents that a query means; there is no default mode; exit 1 when none fits",
    [
      'remit sgrep --mode embed --threshold 0.7 "optimistic tone" corpus/',
      'remit sgrep --mode llm --model anthropic:NAME --max-cost 0.50 "optimistic tone" corpus/',
      'remit sgrep --mode hybrid --top 20 --confidence 0.9 --early-stop "optimistic tone" corpus/',
    ],
    [
      {
        name: "mode",
        value: "embed|llm|hybrid",
        help:
          "embed: free, by vectors; llm: one request a document; hybrid: embed, then llm for --top",
      },
      {
        name: "threshold",
        value: "SCORE",
        help: "0 to 1; absent: 0.5 with llm, the best 10 with embed",
      },
      {
        name: "top",
        value: "N",
        help: "embed: at most so many; hybrid: so many for the model (20)",
      },
      maxCost("stop before more is spent, with what was found so far"),
      { name: "max-docs", value: "N", help: "look at so many documents at most" },
      {
        name: "confidence",
        value: "SCORE",
        help: "with --early-stop: a score that is enough (0.9)",
      },
      { name: "early-stop", help: "stop once a document reaches --confidence" },
      VERBOSE,
      ASKED,
      { name: "embedder", value: "REF", help: "absent: the one of remit.yaml" },
      TEXTS,
    ],
  ),
  simple(
    "sdiff",
    "--mode MODE A B",
    [2, 2],
    "how two documents differ in structure or meaning; there is no default mode; exit 1 when they do",
    [
      "remit sdiff --mode structure old.md new.md",
      "remit sdiff --mode claims --model anthropic:NAME old.md new.md",
      "remit sdiff --mode summary old.md new.md --json",
    ],
    [
      {
        name: "mode",
        value: "structure|claims|summary",
        help: "structure: free, by rules; claims: three requests; summary: two",
      },
      maxCost("refuse when it may cost more"),
      VERBOSE,
      ASKED,
      TEXTS,
    ],
  ),
];

/** The family of the two commands. */
export const SEMANTIC = family(SEMANTIC_COMMANDS, [
  "screen",
  "disk",
  "environment",
  "kernels",
  "mcpStore",
  "models",
  "wikis",
], {
  sgrep: async () => (await import("./sgrep_command.ts")).sgrepCommand,
  sdiff: async () => (await import("./sdiff_command.ts")).sdiffCommand,
});
