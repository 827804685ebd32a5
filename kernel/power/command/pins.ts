/**
 * Private copies of programs to run, made by a copy service that sees only the program and the folder
 * of copies, and checked again before each run. Only these copies are run. Used by commands.ts; made
 * in kernel/main_tools.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { GrantedCommand } from "../../../contracts/tool/mod.ts";
import { startCopyService } from "./copies.ts";
import { lineOfPin, PIN_PLACES } from "../../core/start/command_line.ts";
import type { CommandsParts } from "./commands.ts";

/** Pinned copies of programs. */
export interface Pins {
  /**
   * The path of a checked copy of a granted program. Rejects with `refused` where the program was
   * replaced, `notFound` where it is gone.
   */
  provide(
    command: Pick<GrantedCommand, "program" | "sha256">,
    signal: AbortSignal,
  ): Promise<string>;
}

/** Makes the copies of a kernel's programs. */
export function makePins(
  parts: Pick<
    CommandsParts,
    "config" | "bundle" | "spawn" | "powers" | "disk" | "look" | "contents"
  >,
): Pins {
  const { config, look, powers } = parts;
  const folder = `${config.dir}/programs`;
  /** `stat`'s output for program and copy at the last successful check, by copy. */
  const found = new Map<string, string>();

  return Object.freeze({
    async provide(
      { program, sha256 }: Pick<GrantedCommand, "program" | "sha256">,
      signal: AbortSignal,
    ): Promise<string> {
      const pin = `${folder}/${sha256}`;
      const known = found.get(pin);
      if (known !== undefined && await look("state", [program, pin]) === known) return pin;
      found.delete(pin);
      await parts.disk.makeDir(folder);
      const before = await look("state", [program]);
      signal.throwIfAborted();
      const service = startCopyService(
        lineOfPin(config, { bundle: parts.bundle, pins: folder, program }),
        parts,
      );
      const stop = (): void => void service.kill();
      signal.addEventListener("abort", stop, { once: true });
      try {
        await service.pin({
          ...{ file: PIN_PLACES.program, sha256, pin: `${PIN_PLACES.pins}/${sha256}` },
          draft: powers.token(),
        });
      } finally {
        signal.removeEventListener("abort", stop);
        await service.kill();
      }
      // Without `stat` nothing is remembered: each run pins anew.
      if (before === undefined) return pin;
      // `look` prints a line for each path, the program's first.
      const both = await look("state", [program, pin]);
      if (both?.startsWith(before) !== true) {
        throw new Fault("refused", "Cannot run the program: its file is being replaced; try again");
      }
      found.set(pin, both);
      return pin;
    },
  });
}
