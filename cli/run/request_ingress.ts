/** Who asks, at this command line. @module */
import type { Ingress, Profile } from "../../contracts/task/mod.ts";
import type { Command } from "../command.ts";
import type { Basic } from "../hands.ts";

/** The ingress of what a person says here; a guest's words are RED. */
export function ingressOf(
  { hands }: Command<Basic | "keyboard">,
  profile: Profile = "operator",
): Ingress {
  return {
    channel: hands.keyboard === undefined ? "pipe" : "terminal",
    principal: hands.around.env("USER") ?? `uid-${hands.around.uid}`,
    colour: profile === "operator" ? "BLUE" : "RED",
    label: "internal",
  };
}
