/** `audit verify` and `audit export`: verifies the whole log, also outside the kernel's keeping. @module */
import { Digest } from "../../contracts/authority/mod.ts";
import { EXIT, Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import {
  askPages,
  cell,
  type Command,
  commandText,
  givenFile,
  idOf,
  printJson,
  printLines,
  recordOf,
  withKernel,
} from "../command.ts";
import { flag } from "../arguments/parse_arguments.ts";
import type { Basic } from "../powers.ts";

/** `audit verify [FILE] [--head H] [--key PUB]`; exits with 1 when something does not hold. With a file it needs no kernel. */
export async function auditVerify(command: Command<Basic | "logs">): Promise<number> {
  const file = command.parsed.args[0];
  const head = flag(command.parsed, "head");
  const kept = head === undefined ? undefined : idOf(Digest, head, "head");
  const found = recordOf(await (file === undefined ? inKernel : inFile)(command, kept));
  const ok = found["ok"] === true;
  if (command.json) printJson(command, found);
  else {
    printLines(command, [
      ok ? "the log holds: every chain and every seal" : "the log does NOT hold",
      ...Object.entries(found).filter(([name]) => name !== "ok").map(([name, value]) =>
        `  ${cell(name).padEnd(10)} ${countsOf(value)}`
      ),
    ]);
    const { screen } = command.powers;
    if (ok && head === undefined) {
      screen.say(
        "A whole tail that was cut off shows only with a head that you kept: --head HASH",
      );
    }
    if (ok && file !== undefined && flag(command.parsed, "key") === undefined) {
      screen.say("The file itself names the key that signed it; whose that is shows --key PUB.");
    }
  }
  return ok ? EXIT.success : EXIT.failure;
}

async function inKernel(command: Command, head: Digest | undefined): Promise<Json> {
  if (flag(command.parsed, "key") !== undefined) {
    throw new Fault(
      "invalidInput",
      "Cannot verify with --key: a key is for a FILE that was exported",
    );
  }
  return await withKernel(command, async (link) => {
    const report = recordOf(await link.ask("auditVerify", head === undefined ? {} : { head }));
    // Each kernel of a fleet signs with its own key.
    return link.gateway === true ? report : { ...report, key: link.receiptKey };
  });
}

async function inFile(
  command: Command<Basic | "logs">,
  head: Digest | undefined,
): Promise<Json> {
  const { powers, parsed } = command;
  const bytes = givenFile(command, parsed.args[0] ?? "", "verify");
  return toJson(await powers.logs.verify(bytes, { key: flag(parsed, "key"), head }));
}

/** A value of a report; a record's counts with their names. */
function countsOf(value: Json): string {
  const counts = Object.entries(recordOf(value));
  if (counts.length === 0) return cell(value, 500);
  return counts.map(([name, count]) => `${cell(count)} ${cell(name)}`).join(", ");
}

/** `audit export`: the log as JSON lines, exactly as `audit verify FILE` reads it. */
export async function auditExport(command: Command): Promise<number> {
  const { screen } = command.powers;
  if (screen.outWidth !== undefined) {
    throw new Fault(
      "invalidInput",
      `Cannot print a log at a terminal: write it to a file, "${
        commandText(command, "audit export")
      } > log.jsonl"`,
    );
  }
  return await withKernel(command, async (link) => {
    for await (const line of askPages(link, "auditExport", null)) screen.out(`${String(line)}\n`);
    const check = `--key ${link.receiptKey} --head ${link.head}`;
    screen.say("It holds all that agents read and wrote. To check it, also without this machine:");
    screen.say(`  ${command.powers.environment.command} audit verify FILE ${check}`);
    return EXIT.success;
  });
}
