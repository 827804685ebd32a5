/** The dialect of a configuration, loaded only where there is one. @module */
import type { RemoteConfig } from "../../contracts/model/model_config.ts";
import type { Advertised } from "./advertised.ts";
import type { TextDialect } from "./assemble.ts";

/** What makes a reader of an answer's text, given the advertised tools. */
export type MakeDialect = (advertised: Pick<Advertised, "offered" | "isText">) => TextDialect;

/** Undefined where text is text. */
export async function dialectOf(
  { dialect = [] }: Pick<RemoteConfig, "dialect">,
): Promise<MakeDialect | undefined> {
  if (dialect.length === 0) return undefined;
  const { makeDialect } = await import("./dialect/mod.ts");
  return ({ offered, isText }) => makeDialect(dialect, offered, isText);
}

/** Every mark of a call begins so. */
const MARK = /[<[]/;
/** Of an answer in which a call may stand. */
const MARKED = /tool_call|TOOL_CALLS|tool▁call|DSML|function=|function_call|python_|<\|channel\|>/;

/**
 * A call that stands in an answer's text although its server takes calls by its API: the server could not read it, or
 * does not look for any. Undefined where there is none, and for one that is quoted.
 */
export async function strayCall(
  text: string,
  { offered, isText }: Pick<Advertised, "offered" | "isText">,
): Promise<
  { readonly name: string; readonly arguments: string; readonly wrong: string } | undefined
> {
  if (!MARK.test(text) || !MARKED.test(text)) return undefined;
  const { makeDialect } = await import("./dialect/mod.ts");
  const reader = makeDialect(["hermes", "think"], offered, isText);
  for (const out of [...reader.text(text), ...reader.end()]) {
    if (!("call" in out)) continue;
    const { name, arguments: args, wrong } = out.call;
    // A name in prose that nobody has is no call.
    if (wrong === undefined && !offered.has(name)) continue;
    const why = wrong ??
      "it stands in your text, and your server takes calls by its API alone; call the tool so " +
        '(whoever set up this model can have calls in text read: "dialect: [hermes]" in remit.yaml)';
    return { name, arguments: args, wrong: why };
  }
  return undefined;
}
