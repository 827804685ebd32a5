/** The commands over this machine and its kernel, and for trusting folders. @module */
import { simple } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";

/** The commands over this machine and its kernel, and for trusting folders. */
export const MACHINE = family(
  [
    simple("trust", "[DIR]", [0, 1], "accept a folder's remit.yaml as it is now", [
      "remit trust",
      "remit trust --revoke",
    ], [{ name: "revoke", help: "no longer accept it" }]),
    simple("doctor", "", [0, 0], "which walls stand on this machine", ["remit doctor"]),
    simple("stop", "", [0, 0], "end the kernel, which else stays ten minutes after its last work", [
      "remit stop",
    ], [{ name: "force", help: "also under tasks at work: the next kernel goes on with them" }]),
  ],
  [...BASIC, "keyboard", "mcpStore", "models", "service", "walls"],
  {
    trust: async () => (await import("../setup/trust_command.ts")).trustCommand,
    doctor: async () => (await import("./doctor_command.ts")).doctorCommand,
    stop: async () => (await import("./stop_command.ts")).stopCommand,
  },
);
