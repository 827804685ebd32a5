/** The dialect of a configuration, loaded only where there is one. @module */
import type { RemoteConfig } from "../../contracts/model_config.ts";
import type { TextDialect } from "./assemble.ts";

/** What makes a reader of an answer's text, given the names of the advertised tools. */
export type MakeDialect = (advertised: ReadonlySet<string>) => TextDialect;

/** Undefined where text is text. */
export async function dialectOf(
  { dialect = [] }: Pick<RemoteConfig, "dialect">,
): Promise<MakeDialect | undefined> {
  if (dialect.length === 0) return undefined;
  const { makeDialect } = await import("./dialect/mod.ts");
  return (advertised) => makeDialect(dialect, advertised);
}
