/** The commands over lasting browser profiles. docs/browser_profiles.md. @module */
import { simple } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";

/** Where agents are signed in. */
export const BROWSER = family(
  [
    simple("browser list", "", [0, 0], "browser profiles of agents, and how each stands", [
      "remit browser list",
    ]),
    simple(
      "browser show",
      "NAME",
      [1, 1],
      "a profile whole: agent, origins, names of its cookies, never a value",
      ["remit browser show shop"],
    ),
    simple(
      "browser approve",
      "NAME",
      [1, 1],
      "sign that one agent is signed in at these origins, as remit.yaml says",
      ["remit browser approve shop"],
    ),
    simple(
      "browser import",
      "NAME FILE",
      [2, 2],
      "take cookies of its origins from a cookies.txt of your own browser",
      ["remit browser import shop ~/cookies.txt"],
    ),
    simple("browser forget", "NAME", [1, 1], "delete its cookies and its approval, at once", [
      "remit browser forget shop",
    ]),
  ],
  ["screen", "disk", "environment", "kernels", "keyboard"],
  {
    "browser list": async () => (await import("./commands.ts")).browserList,
    "browser show": async () => (await import("./commands.ts")).browserShow,
    "browser approve": async () => (await import("./commands.ts")).browserApprove,
    "browser import": async () => (await import("./commands.ts")).browserImport,
    "browser forget": async () => (await import("./commands.ts")).browserForget,
  },
);
