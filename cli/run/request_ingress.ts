/** Describes the person at this command line. @module */
import type { Ingress, Profile } from "../../contracts/task/mod.ts";
import type { Command } from "../command.ts";
import type { Basic } from "../powers.ts";

/** The ingress of a person's words at this command line; a guest's words are RED. */
export function ingressOf(
  { powers }: Command<Basic | "keyboard">,
  profile: Profile = "operator",
): Ingress {
  return {
    channel: powers.keyboard === undefined ? "pipe" : "terminal",
    principal: powers.environment.env("USER") ?? `uid-${powers.environment.uid}`,
    colour: profile === "operator" ? "BLUE" : "RED",
    label: "internal",
  };
}
