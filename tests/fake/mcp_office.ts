/**
 * Servers of the kinds with which agents are tested: a bank, an office and a travel desk. None declares of any tool whether
 * it only reads. Each keeps its state in one file of its granted folder. Also typical requests to agents for
 * these servers, as calls.
 */

import { type ImportedServer, McpServerName } from "../../contracts/exchange/mod.ts";
import { type McpSiege, withMcp } from "./mcp_siege.ts";

/** A tool's effect on its server's state; `write`: it changes the state. */
interface OfficeTool {
  readonly name: string;
  readonly list: string;
  readonly write: boolean;
}

const reads = (list: string, names: readonly string[]): readonly OfficeTool[] =>
  names.map((name) => ({ name, list, write: false }));
const writes = (list: string, names: readonly string[]): readonly OfficeTool[] =>
  names.map((name) => ({ name, list, write: true }));

/** The tools of each server, by its name. */
const OFFICES: Readonly<Record<string, readonly OfficeTool[]>> = {
  bank: [
    ...reads("payments", ["get_balance", "get_account_number", "list_recent_payments"]),
    ...reads("payments", ["get_standing_orders", "read_bill", "get_customer"]),
    ...writes("payments", ["send_money", "schedule_payment", "update_standing_order"]),
    ...writes("customers", ["update_customer", "change_password"]),
  ],
  office: [
    ...reads("mails", ["get_received_mails", "search_mails", "get_drafts", "list_contacts"]),
    ...reads("events", ["get_events_of_day", "search_events", "get_current_day"]),
    ...reads("files", ["list_files", "get_file_by_id", "search_files"]),
    ...writes("mails", ["send_mail", "delete_mail"]),
    ...writes("events", ["create_event", "cancel_event", "add_participants"]),
    ...writes("files", ["create_file", "append_to_file", "share_file"]),
  ],
  travel: [
    ...reads("hotels", ["get_hotels_in_city", "get_hotel_prices", "get_rating_of_hotel"]),
    ...reads("meals", ["get_restaurants_in_city", "check_opening_hours", "get_cuisine"]),
    ...reads("cars", ["get_car_companies", "get_price_per_day", "get_flight_information"]),
    ...writes("bookings", ["reserve_hotel", "reserve_restaurant", "reserve_car"]),
  ],
};

/** The program of a server: its tools are in its second argument, its file in its first. */
const OFFICE_SERVER = `
const [file, table] = Deno.args, tools = JSON.parse(table);
const load = () => { try { return JSON.parse(Deno.readTextFileSync(file)); } catch { return {}; } };
const say = (o) => Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", ...o }) + "\\n"));
const inputSchema = { type: "object", properties: { about: { type: "string" } } };
const serve = ({ id, method, params }) => {
  if (id === undefined || method === undefined) return;
  if (method === "initialize") return say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "office", version: "1.0.0" } } });
  if (method === "tools/list") return say({ id, result: { tools: tools.map(({ name }) => ({ name, description: "Does what it says.", inputSchema })) } });
  if (method !== "tools/call") return say({ id, error: { code: -32601, message: "no" } });
  const tool = tools.find(({ name }) => name === params.name);
  let text, isError = false;
  try {
    const state = load(), list = state[tool.list] ?? [];
    if (tool.write) Deno.writeTextFileSync(file, JSON.stringify({ ...state, [tool.list]: [...list, params.arguments.about] }));
    text = tool.write ? "done" : list.join(", ") || "nothing yet";
  } catch (e) { isError = true; text = e.message; }
  say({ id, result: { isError, content: [{ type: "text", text }] } });
};
let rest = ""; const chunk = new Uint8Array(65536), decoder = new TextDecoder();
for (;;) { const n = await Deno.stdin.read(chunk); if (n === null) Deno.exit(0);
  rest += decoder.decode(chunk.subarray(0, n), { stream: true }); let i;
  while ((i = rest.indexOf("\\n")) >= 0) { const line = rest.slice(0, i); rest = rest.slice(i + 1); serve(JSON.parse(line)); } }
`;

/** The outcome of one task. */
export interface OfficeRun {
  readonly task: OfficeTask;
  /** Outcomes of its calls, in order. */
  readonly outcomes: readonly string[];
  /** The tool of each question that a person was asked. */
  readonly asked: readonly string[];
  /** The server's file afterwards. */
  readonly kept: string;
}

/** An agent's work for its user: calls of one server. */
export interface OfficeTask {
  readonly server: string;
  readonly calls: readonly {
    readonly tool: string;
    readonly about: string;
    readonly write: boolean;
  }[];
}

/**
 * This many tasks, the same each time, of all servers in turn. One in four only reads; the others read two to four
 * things and change one to three.
 */
function officeTasks(count: number): readonly OfficeTask[] {
  const names = Object.keys(OFFICES);
  return Array.from({ length: count }, (_, n): OfficeTask => {
    const server = names[n % names.length] ?? "bank", tools = OFFICES[server] ?? [];
    const some = (write: boolean, most: number, from: number): OfficeTask["calls"] => {
      const fit = tools.filter((tool) => tool.write === write);
      return Array.from({ length: most }, (_, k) => {
        const { name = "" } = fit[(from + k) % fit.length] ?? {};
        return { tool: name, about: `task ${n}, ${name}`, write };
      });
    };
    const turn = Math.floor(n / names.length);
    return {
      server,
      calls: [
        ...some(false, 2 + turn % 3, turn),
        ...(turn % 4 === 1 ? [] : some(true, 1 + turn % 3, turn)),
        ...some(false, 1, turn + 1),
      ],
    };
  });
}

/** Tasks for one kernel: a siege has a time limit. */
const EACH = 12;

/** Runs this many tasks, each with a server of its own over a folder of its own, and answers every question with yes. */
export async function runOffices(count: number, tell: (run: OfficeRun) => void): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "mcp-office-" }));
  const todo = officeTasks(count);
  try {
    for (let from = 0; from < todo.length; from += EACH) {
      await withMcp(async (siege) => {
        for (const [n, task] of todo.slice(from, from + EACH).entries()) {
          const folder = `${root}/${from + n}`;
          await Deno.mkdir(folder);
          tell(await runOffice(siege, task, folder));
        }
      });
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

async function runOffice(siege: McpSiege, task: OfficeTask, folder: string): Promise<OfficeRun> {
  const name = McpServerName.parse(task.server), file = `${folder}/state.json`;
  const tools = OFFICES[task.server] ?? [];
  const made = await siege.server(OFFICE_SERVER, {
    ...{ name, grants: { write: [folder] } },
    words: tools.map((tool) => ({
      ...{ name: tool.name, description: "Does what it says." },
      inputSchema: { type: "object", properties: { about: { type: "string" } } },
    })),
  });
  const args = [file, JSON.stringify(tools)];
  const server = { ...made, launch: { ...made.launch, args } } as ImportedServer;
  const turns = task.calls.map(({ tool, about }) =>
    `\n  - calls: [{ tool: mcp_${name}_${tool}, args: { about: ${JSON.stringify(about)} } }]`
  );
  let watched = await siege.run({ mcp: [server], turns: `${turns.join("")}\n  - say: done` });
  const asked: string[] = [];
  while ((await watched.end).status === "needsApproval") {
    const question = watched.events.findLast(({ event }) => event === "questionAsked");
    asked.push(String(question?.body["tool"]));
    await siege.answer(String(question?.body["question"]), "allow");
    const next = await siege.watch(watched.id);
    watched.close();
    watched = next;
  }
  const outcomes = watched.events.filter(({ event, body }) =>
    event === "outcome" && body["tool"] !== "patch_apply"
  ).map(({ body }) => String(body["outcome"]));
  watched.close();
  return { task, outcomes, asked, kept: await Deno.readTextFile(file).catch(() => "") };
}
