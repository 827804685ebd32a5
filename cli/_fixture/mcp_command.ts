/** A command over imported servers, for tests: real disk, real store, a fake kernel. @module */
import type { Command } from "../command.ts";
import { fakeHands, type FakeScreen } from "./world.ts";
import { parseArguments } from "../arguments/parse_arguments.ts";
import { placesOf, preparePlaces } from "../../launch/disk/places.ts";
import type { PowerName } from "../hands.ts";

/** A command in a fresh home. */
export interface FreshCommand extends Command<PowerName> {
  readonly hands: Command<PowerName>["hands"] & {
    readonly screen: FakeScreen;
    readonly root: string;
  };
}

/** Makes it, with its folders. */
export function freshCommand(
  parts: Parameters<typeof fakeHands>[0] & { readonly args?: readonly string[] } = {},
): FreshCommand {
  const hands = fakeHands(parts);
  const places = placesOf(hands.around, undefined);
  preparePlaces(hands.disk, places, hands.around.uid);
  const { command } = parseArguments(["ps"]);
  const parsed = { command, args: parts.args ?? [], flags: new Map() };
  return { hands, places, parsed, json: false };
}
