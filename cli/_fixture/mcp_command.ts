/** A command over imported servers, for tests: real disk, real store, a fake kernel. @module */
import type { Command } from "../command.ts";
import { fakePowers, type FakeScreen } from "./world.ts";
import { parseArguments } from "../arguments/parse_arguments.ts";
import { placesOf, preparePlaces } from "../../launch/disk/places.ts";
import type { PowerName } from "../powers.ts";

/** A command in a fresh home. */
export interface FreshCommand extends Command<PowerName> {
  readonly powers: Command<PowerName>["powers"] & {
    readonly screen: FakeScreen;
    readonly root: string;
  };
}

/** Makes the command, with its folders. */
export function freshCommand(
  parts: Parameters<typeof fakePowers>[0] & { readonly args?: readonly string[] } = {},
): FreshCommand {
  const powers = fakePowers(parts);
  const places = placesOf(powers.environment, undefined);
  preparePlaces(powers.disk, places, powers.environment.uid);
  const { command } = parseArguments(["ps"]);
  const parsed = { command, args: parts.args ?? [], flags: new Map() };
  return { powers, places, parsed, json: false };
}
