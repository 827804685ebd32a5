/** `audit query`, `audit repair` and `receipt …`: search and verify the record. @module */
import { Receipt } from "../../contracts/authority/mod.ts";
import { EXIT, Fault, type Json } from "../../contracts/base/mod.ts";
import { parseJson } from "../../port/mod.ts";
import {
  askKernel,
  askPages,
  cell,
  type Command,
  givenFile,
  printJson,
  printJsonLines,
  printLines,
  recordOf,
  rowsOf,
  taskOf,
  withKernel,
} from "../command.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { ofAgent } from "../arguments/agent_filter.ts";
import { flag } from "../arguments/parse_arguments.ts";
import { parseSince } from "../terminal/since.ts";
import { tableLines } from "../terminal/table.ts";

/** Filters of `audit query`, beside task and time. */
const FILTERS: readonly string[] = ["tool", "model", "decision", "outcome"];

/** `audit query`: always prints JSON lines. */
export async function auditQuery(command: Command): Promise<number> {
  const { parsed, powers } = command;
  const filter: Record<string, Json> = {};
  for (const name of ["task", ...FILTERS]) {
    const value = flag(parsed, name);
    if (value !== undefined) filter[name] = value;
  }
  const since = flag(parsed, "since");
  if (since !== undefined) filter["since"] = parseSince(since, powers.environment.now());
  return await withKernel(command, async (link) => {
    let found = false;
    const fits = await ofAgent(link, parsed);
    for await (const call of askPages(link, "auditQuery", filter)) {
      if (!fits(recordOf(call)["task"])) continue;
      found = true;
      printJsonLines(command, [call]);
    }
    if (!found) powers.screen.say(await noneFits(link, filter));
    return EXIT.success;
  });
}

/** Says that no call fits, and which words would: a model, for instance, is recorded under its own name. */
async function noneFits(
  link: KernelLink,
  filter: Readonly<Record<string, Json>>,
): Promise<string> {
  const open = Object.fromEntries(
    Object.entries(filter).filter(([name]) => !FILTERS.includes(name)),
  );
  const all = rowsOf(await Array.fromAsync(askPages(link, "auditQuery", open)));
  if (all.length === 0) return "no call is on record there";
  const there = FILTERS.filter((name) => Object.hasOwn(filter, name)).map((name) => {
    const words = [...new Set(all.map((call) => cell(call[name])))].filter((word) => word !== "");
    return `; --${name} may be ${words.slice(0, 20).map((word) => `"${word}"`).join(", ")}`;
  });
  return `no call fits, of ${all.length}${there.join("")}`;
}

/** `audit repair`. */
export async function auditRepair(command: Command): Promise<number> {
  const answer = recordOf(await askKernel(command, "auditRepair", null));
  return command.json ? printJson(command, answer) : printLines(
    command,
    Object.entries(answer).map(([name, value]) => `${cell(name).padEnd(12)} ${cell(value, 500)}`),
  );
}

/** `receipt show TASK`. */
export async function receiptShow(command: Command): Promise<number> {
  const answer = await askKernel(command, "receipts", { task: taskOf(command) });
  if (command.json) return printJson(command, answer);
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
  return printLines(
    command,
    tableLines(heads, rows, command.powers.screen.width, "no receipts"),
  );
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

/** Limits of a file of receipts, which may come from anyone. */
const RECEIPT_JSON = { frameBytes: 256 << 20, depth: 16, nodes: 20_000_000 };

/** Parses a file of receipts: one document, a list, or JSON lines. Throws `invalidInput`. */
export function parseReceipts(text: string): Receipt[] {
  const read = (part: string, line: number): unknown => {
    try {
      // Refuses repeated keys: a reader that takes the first would see other events than were verified.
      return parseJson(part, RECEIPT_JSON);
    } catch (cause) {
      throw new Fault("invalidInput", `Cannot read receipts: line ${line} is no JSON`, { cause });
    }
  };
  const trimmed = text.trim();
  let found: unknown[];
  if (trimmed.startsWith("[")) found = [read(trimmed, 1)].flat();
  else {
    try {
      found = [parseJson(trimmed, RECEIPT_JSON)];
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
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

/** `receipt verify FILE [--key PUB]`: needs no kernel; exits with 1 when a receipt does not hold. */
export async function receiptVerify(command: Command<Basic | "receipts">): Promise<number> {
  const { powers, parsed } = command;
  const file = parsed.args[0] ?? "";
  const receipts = parseReceipts(new TextDecoder().decode(givenFile(command, file, "verify")));
  if (receipts.length === 0) {
    throw new Fault("invalidInput", `Cannot verify "${file}": it is empty`);
  }
  const key = flag(parsed, "key");
  const results = await Promise.all(receipts.map(async (receipt, n) => ({
    n: n + 1,
    ...await powers.receipts.verify(receipt, key),
  })));
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
      powers.screen.say(
        `Signed with ${cell(results[0]?.key)}; whose key that is shows --key PUB.`,
      );
    }
  }
  return bad === undefined ? EXIT.success : EXIT.failure;
}
