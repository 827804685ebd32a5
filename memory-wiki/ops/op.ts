/** One thing that the wiki's process can be asked. @module */
import type * as z from "zod";
import { Fault, type Json } from "../../contracts/mod.ts";
import { asJson } from "../../port/as_json.ts";
import type { OpenWiki } from "./open_wiki.ts";

/** An op of contracts/wire_wiki.ts. */
export interface Op {
  /** Writers run one after another; readers run at once, also between the files of an ingest. */
  readonly writes: boolean;
  /** Parses the body, does it. @throws Fault `invalidInput` for a body of another shape. */
  run(wiki: OpenWiki, body: Json): Promise<Json>;
}

/** What an op answers: something that JSON can hold. */
export type Answer = object | string | null;

interface OpParts<S extends z.ZodType> {
  readonly body: S;
  readonly run: (wiki: OpenWiki, body: z.infer<S>) => Answer | Promise<Answer>;
}

/** Makes an op that changes nothing. */
export function reading<S extends z.ZodType>(parts: OpParts<S>): Op {
  return opOf(parts, false);
}

/** Makes an op that changes the wiki: refused where it was opened to be read. */
export function writing<S extends z.ZodType>(parts: OpParts<S>): Op {
  return opOf(parts, true);
}

function opOf<S extends z.ZodType>({ body: schema, run }: OpParts<S>, writes: boolean): Op {
  return Object.freeze({
    writes,
    async run(wiki: OpenWiki, body: Json): Promise<Json> {
      if (writes && wiki.readOnly) {
        throw new Fault("refused", "Cannot change the wiki: it was opened to be read");
      }
      const value = await run(wiki, parseBody(schema, body));
      return value === null || typeof value === "string" ? value : asJson(value);
    },
  });
}

/** The body as the schema has it. @throws Fault `invalidInput`, naming the first place that is wrong. */
export function parseBody<S extends z.ZodType>(schema: S, body: Json): z.infer<S> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.map(String).join(".").slice(0, 100) ?? "";
  throw new Fault(
    "invalidInput",
    `Cannot read what the wiki was asked: ${where === "" ? "" : `${where}: `}${issue?.message}`,
  );
}
