/** Help pages, generated from the table of commands. @module */
import { COMMANDS, type CommandSpec, COMMON_FLAGS, type FlagSpec } from "./command_table.ts";
import { everyCommandLines, overviewLines } from "./help_overview.ts";
import { VERSION } from "../../launch/kernel/version.ts";

function flagLines(flags: readonly FlagSpec[]): string[] {
  return flags.flatMap((each) => {
    const short = each.short === undefined ? "    " : `-${each.short}, `;
    const value = each.value === undefined ? "" : ` ${each.value}`;
    const left = `  ${short}--${each.name}${value}`;
    return left.length > 32
      ? [left, `${" ".repeat(34)}${each.help}`]
      : [`${left.padEnd(34)}${each.help}`];
  });
}

function page(lines: readonly string[]): string {
  return [
    `remit ${VERSION}: runs agents that hold only what you handed them`,
    "",
    ...lines,
    "",
    "Exit codes: 0 done, 1 failed, 2 wrong use, 64 refused, 65 context, 66 budget, 67 upstream, 68 unsure,",
    "  69 contaminated, 70 lease, 71 rate, 72 not applied, 75 waits for you, 130 interrupted, 141 pipe",
    "",
  ].join("\n");
}

/** Every command of every family. */
export function everythingText(): string {
  return page([...everyCommandLines(), "", "Every command:", ...flagLines(COMMON_FLAGS)]);
}

/** One line for each command of a family: `wiki …`. Empty where no family has this name. */
export function familyLines(word: string): readonly string[] {
  const family = COMMANDS.filter(({ name }) => name.startsWith(`${word} `));
  const width = Math.max(0, ...family.map(({ name, args }) => `${name} ${args}`.length));
  return family.map(({ name, args, help }) => `  ${`${name} ${args}`.padEnd(width)}  ${help}`);
}

/** The help page of a family of commands. */
export function familyText(word: string): string {
  return [
    `remit ${word} COMMAND`,
    "",
    ...familyLines(word),
    "",
    `What one of them takes: remit ${word} COMMAND --help`,
    "",
  ].join("\n");
}

/** The help page of a command. */
export function helpText(command: CommandSpec): string {
  if (command.name === "") return page(overviewLines(flagLines(COMMON_FLAGS)));
  const title = `remit ${command.name}`.trim();
  return [
    `${title} ${command.args}`.trim(),
    "",
    `  ${command.help}`,
    "",
    "Flags:",
    ...flagLines([...command.flags, ...COMMON_FLAGS]),
    "",
    "Examples:",
    ...command.examples.map((each) => `  ${each}`),
    "",
  ].join("\n");
}
