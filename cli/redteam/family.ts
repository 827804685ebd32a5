/** The commands `remit redteam` and `remit eval`. @module */
import { MODEL, simple } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";

const RULES = {
  name: "rules",
  value: "FILE",
  help: "the remit.yaml that holds; without it Remit's own rules",
};
const SUITE = { name: "suite", value: "NAME|FILE", many: true, help: "only this suite" };

/** The red team and the evaluations. */
export const REDTEAM = family(
  [
    simple(
      "redteam",
      "",
      [0, 0],
      "attack this Remit with a compromised model; effects are stubbed",
      [
        "remit redteam --quick",
        "remit redteam --own --page report.md",
        "remit redteam --suite agentdojo --from DIR",
      ],
      [
        { name: "quick", help: "one task, one attack and one variant of each suite" },
        { name: "own", help: "your remit.yaml and your imported servers, their effects stubbed" },
        RULES,
        SUITE,
        {
          name: "variant",
          value: "before|at|after|interleaved|adaptive",
          help: "only this attacker",
        },
        {
          ...{ name: "person", value: "exact|absent|careless", many: true },
          help: "only with this person: allows the task's own calls, is not there, allows all",
        },
        {
          ...{ name: "from", value: "DIR" },
          help: "where --suite agentdojo, agentdojo/NAME or injecagent lies: a checkout, a package",
        },
        {
          name: "planned",
          help: "with agentdojo: each task as one program that a person agrees to",
        },
        { name: "release", value: "VERSION", help: "of AgentDojo's tasks; v1 when not given" },
        {
          name: "most",
          value: "N",
          help: "with --from: so many attacks, evenly chosen; 0: user tasks alone",
        },
        { name: "jobs", value: "N", help: "with --from: so many kernels at a time; 2" },
        {
          name: "runs",
          value: "FILE",
          help: "with agentdojo: each run as a line of JSON, as it ends",
        },
        { name: "page", value: "FILE", help: "write the report as Markdown" },
      ],
    ),
    simple(
      "eval",
      "",
      [0, 0],
      "tasks with checks, for a model: pass rate, tokens, questions, time",
      [
        "remit eval",
        "remit eval --model ollama:qwen3:4b --plot rate.svg",
      ],
      [MODEL, RULES, SUITE, { name: "plot", value: "FILE", help: "write the pass rates as SVG" }],
    ),
  ],
  [...BASIC, "redteam"],
  {
    redteam: async () => (await import("./redteam_command.ts")).redteamCommand,
    eval: async () => (await import("./eval_command.ts")).evalCommand,
  },
);
