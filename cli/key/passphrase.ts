/** Reads a passphrase from a file, or from the terminal without echo. @module */
import { Fault } from "../../contracts/base/mod.ts";
import type { Command } from "../command.ts";
import { flag } from "../arguments/parse_arguments.ts";
import { absolute } from "../../launch/disk/places.ts";
import type { Basic } from "../powers.ts";

/** Reads a passphrase: from the file in flag `flagName`, else by `prompt`. Throws `invalidInput` without either. */
export async function readPassphrase(
  command: Command<Basic | "keyboard">,
  flagName: string,
  prompt: string,
): Promise<string> {
  const { powers, parsed } = command;
  const file = flag(parsed, flagName);
  if (file !== undefined) {
    const bytes = powers.disk.read(absolute(powers.environment, file));
    if (bytes === undefined) {
      throw new Fault("notFound", `Cannot read the passphrase: there is no file "${file}"`);
    }
    return new TextDecoder().decode(bytes).replace(/\r?\n$/, "");
  }
  if (powers.keyboard === undefined) {
    throw new Fault(
      "invalidInput",
      `Cannot read the passphrase: there is no terminal; use --${flagName} FILE`,
    );
  }
  const typed = await powers.keyboard.line(`  ${prompt} › `, { echo: false });
  if (typed === undefined) throw new Fault("cancelled", "Cannot read the passphrase: cancelled");
  return typed;
}
