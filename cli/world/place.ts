/** Keeps worlds: one file each beneath the state. @module */
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { parseState, type WorldState, writeState } from "../../world/mod.ts";
import type { Command } from "../command.ts";
import { displayText } from "../../text/mod.ts";

const MAX_BYTES = 200_000_000;

/** A kept world. */
export interface KeptWorld {
  readonly state: WorldState;
  /** Keeps the next state. @throws Fault `conflict` when another command changed the world, `storeCorrupt` */
  save(next: WorldState): void;
}

const folderOf = ({ places }: Command): string => join(places.state, "world");
const fileOf = (command: Command, name: string): string => join(folderOf(command), `${name}.json`);

/** Opens the world of a name; `state` is undefined for a new one. `fresh`: the first save replaces the kept world. */
export function openWorld(
  command: Command,
  name: string,
  { fresh = false }: { readonly fresh?: boolean } = {},
): { readonly state: WorldState | undefined; readonly save: KeptWorld["save"] } {
  const { disk } = command.powers;
  const file = fileOf(command, name);
  const read = (): string | undefined => {
    const bytes = disk.read(file, { most: MAX_BYTES });
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  };
  let last = read();
  return {
    state: last === undefined || fresh ? undefined : parseState(last, displayText(file)),
    save(next): void {
      if (read() !== last) {
        throw new Fault(
          "conflict",
          `Cannot keep the world "${name}": another command has changed it; run this one again`,
        );
      }
      // Serialize before replacing the file: an unreadable one would lose all hours.
      const text = writeState(next);
      disk.makeFolder(folderOf(command), 0o700);
      disk.write(file, text);
      last = text;
    },
  };
}

/** The world named `name`, else the only one. Throws Fault `notFound`, `invalidInput`. */
export function needWorld(command: Command, name: string | undefined): KeptWorld {
  const names = command.powers.disk.list(folderOf(command)).flatMap((file) =>
    /^([a-z][a-z0-9-]{0,31})\.json$/.exec(file)?.[1] ?? []
  );
  const [only, ...more] = names;
  if (name === undefined && more.length > 0) {
    throw new Fault("invalidInput", `Cannot choose a world: add --world ${names.join("|")}`);
  }
  const wanted = name ?? only;
  const world = wanted !== undefined && names.includes(wanted)
    ? openWorld(command, wanted)
    : undefined;
  if (world?.state !== undefined) return { state: world.state, save: world.save };
  throw new Fault(
    "notFound",
    `Cannot show a world${
      name === undefined ? "" : ` "${displayText(name, { max: 64 })}"`
    }: none stands in this state; "remit world run FILE" begins one`,
  );
}
