/** `mcp log NAME`: what a server did and tried, in every task and look. @module */
import { EXIT, Fault } from "../../../contracts/mod.ts";
import { displayText } from "../../../text/mod.ts";
import {
  askKernel,
  cell,
  type Command,
  printJsonLines,
  printLines,
  rowsOf,
} from "../../command.ts";
import { cutTo, padTo } from "../../terminal/columns.ts";
import { parseMcpName } from "../lock/lock.ts";
import { flag } from "../../arguments/parse_arguments.ts";

const LINES = 200;
const MOST_LINES = 100_000;
/** Columns where nobody looks at columns. */
const WIDE = 2_000;

function limitOf(command: Command): number {
  const given = flag(command.parsed, "limit");
  const limit = given === undefined ? LINES : Number(given);
  if (Number.isSafeInteger(limit) && limit > 0 && limit <= MOST_LINES) return limit;
  throw new Fault("invalidInput", `Cannot read --limit "${given}": it takes 1 to ${MOST_LINES}`);
}

/** Runs the command. A server that was removed has its log still. */
export async function mcpLog(command: Command): Promise<number> {
  const { screen } = command.hands;
  const server = parseMcpName(command.parsed.args[0] ?? "");
  const rows = rowsOf(await askKernel(command, "mcpLog", { server, limit: limitOf(command) }));
  if (command.json) {
    printJsonLines(command, rows);
    return EXIT.success;
  }
  if (rows.length === 0) {
    screen.say(`${server} did nothing yet.`);
    return EXIT.success;
  }
  const width = screen.outWidth ?? WIDE;
  printLines(
    command,
    rows.map((row) => {
      const time = new Date(Number(row["at"] ?? 0)).toISOString().slice(0, 19).replace("T", " ");
      const text = displayText(String(row["text"] ?? ""), { max: 1_000 });
      const what = padTo(cell(row["what"], 16), 9);
      return cutTo(`${time}  ${padTo(cell(row["task"], 16), 13)}  ${what}  ${text}`, width)
        .trimEnd();
    }),
  );
  return EXIT.success;
}
