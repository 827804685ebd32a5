/** The person's keys, and where agents act as the person. @module */
import { PASSPHRASE, simple } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";

/** The commands over the person's keys and over browser profiles. */
export const KEY = family(
  [
    simple("key create", "", [0, 0], "make your passphrase key, for the gravest questions", [
      "remit key create",
    ], [PASSPHRASE]),
    simple("key show", "", [0, 0], "your public keys", ["remit key show"]),
    simple("key rotate", "", [0, 0], "replace your passphrase key", ["remit key rotate"], [
      PASSPHRASE,
      { name: "new-passphrase-file", value: "FILE", help: "where the new passphrase is" },
    ]),
  ],
  [...BASIC, "keyboard"],
  {
    "key create": async () => (await import("./commands.ts")).keyCreate,
    "key show": async () => (await import("./commands.ts")).keyShow,
    "key rotate": async () => (await import("./commands.ts")).keyRotate,
  },
);

/** Where agents are signed in. docs/browser_profiles.md. */
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
    "browser list": async () => (await import("../browser/commands.ts")).browserList,
    "browser show": async () => (await import("../browser/commands.ts")).browserShow,
    "browser approve": async () => (await import("../browser/commands.ts")).browserApprove,
    "browser import": async () => (await import("../browser/commands.ts")).browserImport,
    "browser forget": async () => (await import("../browser/commands.ts")).browserForget,
  },
);
