/** The man page remit(1), generated from the table of commands like the help pages. @module */
import { COMMANDS, COMMON_FLAGS, type FlagSpec } from "../../cli/arguments/command_table.ts";
import { VERSION } from "../../launch/kernel/version.ts";

/**
 * Escapes text for roff: no line begins a request, no backslash starts an escape, and each "-" can
 * be copied.
 */
function roff(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replace(/^([.'])/, "\\&$1");
}

function flagLines(flags: readonly FlagSpec[]): string[] {
  return flags.flatMap(({ name, short, value, help }) => {
    const long = `--${name}${value === undefined ? "" : ` ${value}`}`;
    return [".TP", `.B ${roff(short === undefined ? long : `-${short}, ${long}`)}`, roff(help)];
  });
}

/** Returns the page as roff. `date`: `2026-01-31`. */
export function manPage(date: string): string {
  const commands = COMMANDS.flatMap(({ name, args, help, flags, examples }) => [
    `.SS ${roff(`remit ${name} ${args}`.replace(/\s+/g, " ").trim())}`,
    roff(`${help}.`),
    ...flagLines(flags),
    ...(examples.length === 0 ? [] : [".PP", ".nf", ...examples.map(roff), ".fi"]),
  ]);
  return [
    `.TH REMIT 1 ${roff(date)} "Remit ${roff(VERSION)}" "User Commands"`,
    ".SH NAME",
    "remit \\- runs LLM agents that hold only what they were handed",
    ".SH SYNOPSIS",
    ".B remit",
    "[COMMAND] [FLAGS]",
    ".SH FLAGS OF EVERY COMMAND",
    ...flagLines(COMMON_FLAGS),
    ".SH COMMANDS",
    ...commands,
    ".SH FILES",
    ".TP",
    ".I ~/.config/remit/remit.yaml",
    "Your own settings. A remit.yaml in a folder can only narrow them until you trust it.",
    ".TP",
    ".I ~/.local/state/remit",
    "The log, tasks, keys and staged changes.",
    ".SH EXIT STATUS",
    "0 done, 1 failed, 2 wrong use, 64 refused, 66 budget, 72 not applied, 75 waits for a person, 130 interrupted.",
    "",
  ].join("\n");
}
