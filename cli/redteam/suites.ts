/** Reads the suites and rules that the flags of both commands name. @module */
import { Fault } from "../../contracts/base/mod.ts";
import { parseSuite, type Suite, type Workshop } from "../../redteam/mod.ts";
import { flag } from "../arguments/parse_arguments.ts";
import type { Command } from "../command.ts";
import { absolute } from "../../launch/disk/places.ts";
import type { Basic, Powers } from "../powers.ts";

/** The text of a file. Throws Fault `notFound`. */
export function fileText({ disk }: Pick<Powers, "disk">, path: string): string {
  const bytes = disk.read(path, { most: 100_000_000 });
  if (bytes === undefined) {
    throw new Fault("notFound", `Cannot read ${JSON.stringify(path)}: there is no such file`);
  }
  return new TextDecoder().decode(bytes);
}

/** The suites in the box, or those of `--suite`: by name, or from a file. */
export function shippedSuites(
  { powers, parsed }: Command<Basic | "redteam">,
  folder: "suites" | "evals",
): readonly Suite[] {
  const { redteam, environment } = powers;
  const own = redteam.names(folder).map((name) => name.replace(/\.yaml$/, ""));
  const wanted = parsed.flags.get("suite") ?? [];
  return (wanted.length === 0 ? own : wanted).map((name) =>
    own.includes(name)
      ? parseSuite(redteam.shipped(`${folder}/${name}.yaml`), name)
      : parseSuite(fileText(powers, absolute(environment, name)), name)
  );
}

/** Writes the rules of `--rules` into the workshop, else those of the file `otherwise`, if it exists. */
export function takeRules(
  { powers, parsed }: Command<Basic | "redteam">,
  workshop: Workshop,
  otherwise?: string,
): void {
  const given = flag(parsed, "rules");
  const path = given === undefined ? otherwise : absolute(powers.environment, given);
  if (path === undefined || (given === undefined && powers.disk.stat(path) === undefined)) return;
  workshop.write("config/remit/remit.yaml", fileText(powers, path));
}

/** A flag's value as a whole number above 0; undefined without the flag. */
export function wholeNumber({ parsed }: Pick<Command, "parsed">, name: string): number | undefined {
  const given = flag(parsed, name);
  if (given === undefined) return undefined;
  const number = Number(given);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Fault("invalidInput", `Cannot take --${name}: it is no whole number above 0`);
}
