/** Templates, as help and parsing read them. @module */
import { simple } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";

/** What a model fills in at fixed steps. docs/templates.md. */
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
  ["screen", "disk", "around", "kernels"],
  {
    "templates list": async () => (await import("./commands.ts")).templatesList,
    "templates show": async () => (await import("./commands.ts")).templatesShow,
  },
);
