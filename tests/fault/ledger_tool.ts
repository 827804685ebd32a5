/**
 * Stands in for net/mod.ts in the fault tests' kernel: a tool whose effect is a line that an
 * outside process counts. Everything else of that kernel is the real one.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import { ToolName } from "../../contracts/authority/ids.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import type {
  GrantedCall,
  PowerResult,
  Resolved,
  ToolBinding,
} from "../../contracts/task/power.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";

/** Tells the ledger of one effect; resolves when it was counted. */
async function post(call: GrantedCall): Promise<PowerResult> {
  const connection = await Deno.connect({ transport: "unix", path: String(call.args["ledger"]) });
  try {
    await connection.write(new TextEncoder().encode(`${call.idempotencyKey}\n`));
    const answer = new Uint8Array(16);
    const n = await connection.read(answer);
    if (n === null) throw new Fault("upstream", "Cannot post: the ledger did not answer");
    const content = new TextDecoder().decode(answer.subarray(0, n));
    return { content, colour: "BLUE", label: "internal", sources: [] };
  } finally {
    connection.close();
  }
}

/** Named as the binding whose place it takes: `ledger_post { ledger, repeats }`. */
export function httpFetchBinding(): ToolBinding {
  return Object.freeze<ToolBinding>({
    descriptor: Object.freeze({
      name: ToolName.parse("ledger_post"),
      description: "Posts one line to a ledger. With `repeats`, the ledger knows a key again.",
      interfaceId: "Ledger",
      methodName: "post",
      paramSchema: JSON.stringify({
        type: "object",
        properties: {
          ledger: { type: "string", minLength: 1, maxLength: 200 },
          repeats: { type: "boolean" },
        },
        required: ["ledger", "repeats"],
        additionalProperties: false,
      }),
      permission: "consent",
      category: "mutate",
    }),
    effect: "mutateLocal",
    deadlineMs: 10_000,
    resultBytes: 1_024,
    resolve: (args: JsonObject, process: ProcessRow): Resolved => ({
      scopes: [{ resource: "outbox", right: "write", path: "" }],
      effect: "mutateLocal",
      digests: {},
      colour: process.colour,
      label: process.label,
      summary: "post one line to the ledger",
      idempotent: args["repeats"] === true,
    }),
    invoke: post,
  });
}

/** As net/mod.ts: nothing of the fault tests goes to the web. */
export function originOf(url: string): string {
  throw new Fault("invalidArguments", `Cannot fetch ${JSON.stringify(url)}: there is no web here`);
}

/** As net/mod.ts. */
export function labelOfAnswer(): "internal" {
  return "internal";
}

/** What net/mod.ts gives the kernel beside its tool: no address is asked about here. */
export const isPublic = (): boolean => true;
