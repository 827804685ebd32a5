/**
 * init and the commands: reads configuration, starts or finds the kernel, asks the person, and
 * shows what happened. main.ts hands it its powers.
 *
 * @example
 * ```ts
 * import { parseArguments } from "./mod.ts";
 * const { command, args } = parseArguments(["task", "show", "t000000000001"]);
 * if (command.name !== "task show" || args.length !== 1) throw new Error("it does not parse");
 * ```
 * @module
 */
export { parseArguments } from "./arguments/parse_arguments.ts";
