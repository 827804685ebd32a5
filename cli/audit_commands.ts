/** `audit …` and `receipt …`: what can be checked afterwards, also by others. @module */
import { Digest, EXIT, Fault, type Json, Receipt } from "../contracts/mod.ts";
import {
  askKernel,
  cell,
  type Command,
  idOf,
  printJson,
  printJsonLines,
  printLines,
  recordOf,
  rowsOf,
  taskOf,
} from "./command.ts";
import { flag } from "./parse_arguments.ts";
import { absolute } from "./places.ts";
import { tableLines } from "./table.ts";

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Reads `2h` or a date as milliseconds since 1970. Throws `invalidInput`. */
export function parseSince(text: string, now: number): number {
  const ago = /^(\d{1,6})([smhd])$/.exec(text);
  if (ago !== null) return Math.max(0, now - Number(ago[1]) * (UNITS[ago[2] ?? ""] ?? 0));
  const at = Date.parse(text);
  if (Number.isNaN(at)) {
    throw new Fault("invalidInput", `Cannot read "${text}": write 30m, 2h, 7d, or a date`);
  }
  return Math.max(0, at);
}

/** `audit verify [--head H]`; 1 when something does not hold. */
export async function auditVerify(command: Command): Promise<number> {
  const head = flag(command.parsed, "head");
  const report = await askKernel(
    command,
    "auditVerify",
    head === undefined ? {} : { head: idOf(Digest, head, "head") },
  );
  const found = recordOf(report);
  const ok = found["ok"] === true;
  if (command.json) printJson(command, report);
  else {
    printLines(command, [
      ok ? "the log holds: every chain and every seal" : "the log does NOT hold",
      ...Object.entries(found).filter(([name]) => name !== "ok").map(([name, value]) =>
        `  ${cell(name).padEnd(10)} ${cell(value, 500)}`
      ),
    ]);
    if (ok && head === undefined) {
      command.hands.screen.say(
        "A whole tail that was cut off shows only with a head that you kept: --head HASH",
      );
    }
  }
  return ok ? EXIT.success : EXIT.failure;
}

/** `audit query`: JSON lines, whatever `--json` says. */
export async function auditQuery(command: Command): Promise<number> {
  const { parsed, hands } = command;
  const filter: Record<string, Json> = {};
  for (const name of ["task", "tool", "model", "decision", "outcome"]) {
    const value = flag(parsed, name);
    if (value !== undefined) filter[name] = value;
  }
  const since = flag(parsed, "since");
  if (since !== undefined) filter["since"] = parseSince(since, hands.around.now());
  const answer = await askKernel(command, "auditQuery", filter);
  printJsonLines(command, Array.isArray(answer) ? answer : []);
  return EXIT.success;
}

/** `audit repair`. */
export async function auditRepair(command: Command): Promise<number> {
  const answer = recordOf(await askKernel(command, "auditRepair", null));
  if (command.json) printJson(command, answer);
  else {
    printLines(
      command,
      Object.entries(answer).map(([name, value]) => `${cell(name).padEnd(12)} ${cell(value, 500)}`),
    );
  }
  return EXIT.success;
}

/** `receipt show TASK`. */
export async function receiptShow(command: Command): Promise<number> {
  const answer = await askKernel(command, "receipts", { task: taskOf(command) });
  if (command.json) {
    printJson(command, answer);
    return EXIT.success;
  }
  const rows = rowsOf(answer).map((receipt) => {
    const events = receipt["events"];
    const last = recordOf(Array.isArray(events) ? events.at(-1) : undefined);
    const body = parseBody(last["body"]);
    return [
      cell(last["n"]),
      cell(body["tool"]),
      cell(body["outcome"]),
      cell(body["decision"]),
      cell(last["hash"]).slice(0, 16),
      cell(body["rule"], 200),
    ];
  });
  const heads = ["N", "TOOL", "OUTCOME", "DECISION", "HASH", "RULE"];
  printLines(
    command,
    rows.length === 0 ? ["no receipts"] : tableLines(heads, rows, command.hands.screen.width),
  );
  return EXIT.success;
}

function parseBody(text: Json | undefined): ReturnType<typeof recordOf> {
  if (typeof text !== "string") return {};
  try {
    return recordOf(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/** `receipt export TASK`: JSON lines on standard output. */
export async function receiptExport(command: Command): Promise<number> {
  const answer = await askKernel(command, "receipts", { task: taskOf(command) });
  printJsonLines(command, Array.isArray(answer) ? answer : []);
  return EXIT.success;
}

/** Receipts of a file: one document, a list, or JSON lines. Throws `invalidInput`. */
export function parseReceipts(text: string): Receipt[] {
  const read = (part: string, line: number): unknown => {
    try {
      return JSON.parse(part);
    } catch (cause) {
      throw new Fault("invalidInput", `Cannot read receipts: line ${line} is no JSON`, { cause });
    }
  };
  const trimmed = text.trim();
  let found: unknown[];
  if (trimmed.startsWith("[")) found = [read(trimmed, 1)].flat();
  else {
    try {
      found = [JSON.parse(trimmed)];
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      found = trimmed.split("\n").map((part, n) => read(part, n + 1));
    }
  }
  return found.map((each, n) => {
    const parsed = Receipt.safeParse(each);
    if (!parsed.success) {
      const why = parsed.error.issues[0]?.message ?? "it does not parse";
      throw new Fault("invalidInput", `Cannot read receipt ${n + 1}: ${why}`);
    }
    return parsed.data;
  });
}

/** `receipt verify FILE [--key PUB]`: needs no kernel; 1 for the first receipt that does not hold. */
export function receiptVerify(command: Command): Promise<number> {
  const { hands, parsed } = command;
  const file = parsed.args[0] ?? "";
  const bytes = hands.disk.read(absolute(hands.around, file));
  if (bytes === undefined) {
    throw new Fault("notFound", `Cannot verify "${file}": there is no such file`);
  }
  const receipts = parseReceipts(new TextDecoder().decode(bytes));
  if (receipts.length === 0) {
    throw new Fault("invalidInput", `Cannot verify "${file}": it is empty`);
  }
  const key = flag(parsed, "key");
  const results = receipts.map((receipt, n) => ({
    n: n + 1,
    ...hands.receipts.verify(receipt, key),
  }));
  const bad = results.find((each) => !each.ok);
  if (command.json) printJson(command, { ok: bad === undefined, receipts: results });
  else {
    printLines(
      command,
      results.map((each) =>
        `${each.ok ? "holds" : "DOES NOT HOLD"}  ${each.n}  ${cell(each.reason, 300)}`
      ),
    );
    if (key === undefined) {
      hands.screen.say(
        `Signed with ${cell(results[0]?.key)}; whose key that is shows --key PUB.`,
      );
    }
  }
  return Promise.resolve(bad === undefined ? EXIT.success : EXIT.failure);
}
