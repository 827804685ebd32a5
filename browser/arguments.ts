/** What calls are given, and whether what they asked for came. @module */
import { Fault } from "../contracts/fault.ts";
import type { JsonObject } from "../contracts/json.ts";
import { webOrigin, withoutFragment } from "./address.ts";
import type { Granted } from "./judge.ts";
import { differs } from "./mismatch.ts";
import type { Tally } from "./requests.ts";

/** @throws Fault when the page that was asked for did not come, or something else was asked for */
export function mustHaveCome({ page }: Tally, { exact, leadsTo }: Granted): void {
  if (page?.kind === "failed") throw page.fault;
  if (page?.kind !== "differs") return;
  const { url, body = "" } = page.request;
  const plain = withoutFragment(url);
  const given = exact?.url ?? leadsTo ?? "";
  if (plain !== given) throw differs("url", { given, exact: plain });
  throw differs("body", { given: exact?.body ?? "", exact: body });
}

/** The origin of an address. @throws Fault `refused` for what is not http or https */
export function originOf(url: string): string {
  const origin = webOrigin(url);
  if (origin !== undefined) return origin;
  throw new Fault("refused", "Cannot open this: only http and https addresses are opened");
}

/** Arguments that are texts. @throws Fault `invalidArguments` */
export function texts<Name extends string>(
  args: JsonObject,
  ...names: Name[]
): Record<Name, string> {
  return Object.fromEntries(names.map((name) => {
    const value = args[name];
    if (typeof value === "string") return [name, value];
    throw new Fault("invalidArguments", `Cannot use argument "${name}": it is not a text`);
  })) as Record<Name, string>;
}
