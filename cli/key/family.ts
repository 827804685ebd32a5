/** The commands over the person's keys. @module */
import { PASSPHRASE, simple } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";

/** The commands over the person's keys. */
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
