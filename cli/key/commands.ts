/** `key create|show|rotate`: the person's keys. @module */
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { type Command, commandText, printJson, printLines } from "../command.ts";
import { openKeyRing } from "../../config/key/ring.ts";
import { flag } from "../arguments/parse_arguments.ts";
import { readPassphrase } from "./passphrase.ts";
import { preparePlaces } from "../../launch/disk/places.ts";
import type { Basic } from "../powers.ts";

async function readNew(
  command: Command<Basic | "keyboard">,
  flagName: string,
  prompt: string,
): Promise<string> {
  const first = await readPassphrase(command, flagName, prompt);
  if (flag(command.parsed, flagName) !== undefined) return first;
  const again = await readPassphrase(command, flagName, `${prompt} again`);
  if (again !== first) throw new Fault("invalidInput", "Cannot make key: the two differ");
  return first;
}

function printKey(command: Command, key: string): number {
  if (command.json) printJson(command, { stepUp: key });
  else {
    printLines(command, [`passphrase key  ${key}`]);
    command.powers.screen.say(
      `A kernel that runs now knows the keys that it was started with: end it with "${
        commandText(command, "stop")
      }".`,
    );
  }
  return EXIT.success;
}

/** `key create`. */
export async function keyCreate(command: Command<Basic | "keyboard">): Promise<number> {
  const { powers, places } = command;
  preparePlaces(powers.disk, places, powers.environment.uid);
  const ring = openKeyRing(powers.disk, places);
  if (ring.stepUpKey() !== undefined) {
    throw new Fault(
      "alreadyExists",
      'Cannot make key: there is one; replace it with "remit key rotate"',
    );
  }
  const passphrase = await readNew(command, "passphrase-file", "new passphrase");
  return printKey(command, ring.createStepUp(passphrase));
}

/** `key rotate`. */
export async function keyRotate(command: Command<Basic | "keyboard">): Promise<number> {
  const { powers, places } = command;
  const ring = openKeyRing(powers.disk, places);
  const old = await readPassphrase(command, "passphrase-file", "passphrase");
  ring.openStepUp(old);
  const next = await readNew(command, "new-passphrase-file", "new passphrase");
  return printKey(command, ring.rotateStepUp(old, next));
}

/** `key show`. */
export function keyShow(command: Command): Promise<number> {
  const { powers, places } = command;
  preparePlaces(powers.disk, places, powers.environment.uid);
  const ring = openKeyRing(powers.disk, places);
  const consent = ring.provideConsent().key;
  const stepUp = ring.stepUpKey();
  return Promise.resolve(
    command.json ? printJson(command, { consent, stepUp: stepUp ?? null }) : printLines(command, [
      `consent key     ${consent}`,
      `passphrase key  ${stepUp ?? 'none; make it with "remit key create"'}`,
    ]),
  );
}
