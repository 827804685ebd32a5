/** The commands over kernels that share a database. @module */
import { simple } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";

/** The command that keeps a gateway's token. The commands that make tokens are in cli/mcp_serve. */
export const FLEET_DOOR = family(
  [
    simple("fleet login", "URL", [1, 1], "keep the token for a fleet's gateway, sealed", [
      "remit fleet login https://fleet.example.org",
    ]),
  ],
  [...BASIC, "keyboard", "readInput"],
  {
    "fleet login": async () => (await import("./commands.ts")).fleetLogin,
  },
);

/** The commands over kernels that share a database. docs/scale.md. */
export const FLEET = family(
  [
    simple("fleet list", "", [0, 0], "the kernels of this state's database, and what each has", [
      "remit fleet list",
    ]),
    simple("fleet tasks", "", [0, 0], "tasks of all its kernels that are not over", [
      "remit fleet tasks",
    ]),
    simple("fleet verify", "", [0, 0], "check the log of every kernel", ["remit fleet verify"]),
    simple(
      "fleet enroll",
      "KERNEL",
      [1, 1],
      "make a kernel's own role; print the address for its --store",
      [
        "remit fleet enroll k1",
      ],
    ),
    simple("fleet cordon", "KERNEL", [1, 1], "a kernel takes no new work", [
      "remit fleet cordon k1",
    ]),
    simple("fleet drain", "KERNEL", [1, 1], "a kernel takes no new work, and ends when idle", [
      "remit fleet drain k1",
    ]),
    simple("fleet uncordon", "KERNEL", [1, 1], "a kernel takes work again", [
      "remit fleet uncordon k1",
    ]),
  ],
  BASIC,
  {
    "fleet list": async () => (await import("./commands.ts")).fleetList,
    "fleet tasks": async () => (await import("./commands.ts")).fleetTasks,
    "fleet verify": async () => (await import("./commands.ts")).fleetVerify,
    "fleet enroll": async () => (await import("./commands.ts")).fleetEnroll,
    "fleet cordon": async () => (await import("./commands.ts")).fleetCordon,
    "fleet drain": async () => (await import("./commands.ts")).fleetDrain,
    "fleet uncordon": async () => (await import("./commands.ts")).fleetUncordon,
  },
);
