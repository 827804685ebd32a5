/** Where worlds lie: one file each beneath the state. @module */
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { parseState, type WorldState, writeState } from "../../world/mod.ts";
import type { Command } from "../command.ts";
import { displayText } from "../../text/mod.ts";

const MAX = 200_000_000;

/** A world that stands. */
export interface KeptWorld {
  readonly state: WorldState;
  /** Keeps another state of it. @throws Fault `conflict` (somebody else has changed it meanwhile), `storeCorrupt` */
  save(next: WorldState): void;
}

const folderOf = ({ places }: Command): string => join(places.state, "world");
const fileOf = (command: Command, name: string): string => join(folderOf(command), `${name}.json`);

/** The world of a name; undefined where none stands. `fresh`: what stands is forgotten with the first save. */
export function openWorld(
  command: Command,
  name: string,
  { fresh = false }: { readonly fresh?: boolean } = {},
): { readonly state: WorldState | undefined; readonly save: KeptWorld["save"] } {
  const { disk } = command.powers;
  const file = fileOf(command, name);
  const read = (): string | undefined => {
    const bytes = disk.read(file, { most: MAX });
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
      // Before the old one is replaced: what could not be read again would be all hours lost.
      const text = writeState(next);
      disk.makeFolder(folderOf(command), 0o700);
      disk.write(file, text);
      last = text;
    },
  };
}

/** The world that a command is about: of `name`, else the only one. Throws Fault `notFound`, `invalidInput`. */
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
