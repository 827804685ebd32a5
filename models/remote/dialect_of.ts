/** Loads the dialect of a configuration if it has one. @module */
import type { RemoteConfig } from "../../contracts/model/model_config.ts";
import type { Advertised } from "./advertised.ts";
import type { TextDialect } from "./assemble.ts";

/** Makes a parser of answers, given the advertised tools. */
export type MakeDialect = (advertised: Pick<Advertised, "offered" | "isText">) => TextDialect;

/** Undefined: answers are plain text. */
export async function dialectOf(
  { dialect = [] }: Pick<RemoteConfig, "dialect">,
): Promise<MakeDialect | undefined> {
  if (dialect.length === 0) return undefined;
  const { makeDialect } = await import("./dialect/mod.ts");
  return ({ offered, isText }) => makeDialect(dialect, offered, isText);
}

/** Every call marker begins so. */
const MARK = /[<[]/;
/** Marks an answer that may hold a call. */
const MARKED = /tool_call|TOOL_CALLS|tool▁call|DSML|function=|function_call|python_|<\|channel\|>/;

/**
 * Finds a call in the text of an answer whose server takes calls by its API: the server could not parse the
 * call, or does not look for any. Undefined for none, and for a call that is quoted.
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
    // An unknown name in prose is no call.
    if (wrong === undefined && !offered.has(name)) continue;
    const why = wrong ??
      "it stands in your text, and your server takes calls by its API alone; call the tool so " +
        '(whoever set up this model can have calls in text read: "dialect: [hermes]" in remit.yaml)';
    return { name, arguments: args, wrong: why };
  }
  return undefined;
}
