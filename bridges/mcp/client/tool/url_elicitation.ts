/** Error -32042 of 2025-11-25: a person must visit addresses before the call can be made again. @module */
import { ProtocolError } from "@modelcontextprotocol/client";
import { Fault } from "../../../../contracts/fault.ts";
import { isObject, type Json, type JsonObject } from "../../../../contracts/json.ts";
import { asJson } from "../../../../port/as_json.ts";
import type { KernelSide } from "../kernel_side.ts";

const URL_NEEDED = -32_042;
/** Addresses of one error that a person is asked to visit. */
const VISITS = 4;

/** The addresses that an answer asks a person to visit, with what it says of each; none for any other answer. */
function visitsOf(
  fault: Fault,
): readonly { readonly message: string; readonly url: string }[] {
  const { cause } = fault;
  if (!(cause instanceof ProtocolError) || cause.code !== URL_NEEDED) return [];
  const data: Json = asJson(isObject(cause.data as Json) ? cause.data as JsonObject : {});
  const asked = isObject(data) ? data["elicitations"] : undefined;
  return (Array.isArray(asked) ? asked.slice(0, VISITS) : []).flatMap((one) => {
    const { url, message = "" } = isObject(one) ? one : {};
    const fits = typeof url === "string" && url.length <= 4_096 && typeof message === "string";
    return fits && message.length <= 8_192 ? [{ message, url }] : [];
  });
}

/** Asks the person for each visit in turn. Throws the fault that says what to do then. */
export async function askVisits(
  fault: Fault,
  { call, kernel }: { readonly call: string; readonly kernel: Pick<KernelSide, "elicit"> },
): Promise<never> {
  for (const visit of visitsOf(fault)) {
    const { action } = await kernel.elicit({ call, ...visit });
    if (action !== "accept") throw fault;
  }
  if (visitsOf(fault).length === 0) throw fault;
  const why = "the person was asked to visit an address first; make the call again afterwards";
  throw new Fault("upstream", `Cannot finish the call: ${why}`, { cause: fault });
}
