/** `remit fleet login URL`: keeps a gateway's token, sealed. @module */
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { type Command, printJson } from "../command.ts";
import { preparePlaces } from "../../launch/disk/places.ts";
import type { Basic } from "../powers.ts";
import { FLEET_PLACE } from "../../config/secret/hook_secret.ts";
import { openSecretKeep } from "../../config/secret/keep.ts";
import { parseSecretValue } from "../../config/secret/rules.ts";
import { fleetOrigin, parseGatewayUrl } from "./over_gateway.ts";

/** `fleet login URL`: reads the token from the keyboard or input, and never shows it. */
export async function fleetLogin(
  command: Command<Basic | "keyboard" | "readInput">,
): Promise<number> {
  const { powers, parsed, places } = command;
  const url = parseGatewayUrl(parsed.args[0] ?? "");
  preparePlaces(powers.disk, places, powers.environment.uid);
  const typed = powers.keyboard === undefined
    ? await powers.readInput()
    : await powers.keyboard.line("  token (not shown) › ", { echo: false });
  if (typed === undefined) throw new Fault("cancelled", "Cannot keep the token: cancelled");
  const origin = fleetOrigin(url);
  const name = origin.replaceAll(/[^a-z0-9_-]/gi, "-").toLowerCase().slice(0, 64);
  const value = parseSecretValue(typed);
  const keep = openSecretKeep(powers.disk, places);
  const done = keep.set({ ...FLEET_PLACE, origin, name, value });
  if (command.json) printJson(command, { url: url.origin, done });
  else {
    powers.screen.say(
      `  ${done}: the token for ${url.origin}; try remit --fleet ${url.origin} tasks`,
    );
  }
  return EXIT.success;
}
