/** The wiki's process behind its port: one wiki, opened once; writers one after another, readers at once. @module */
import {
  Fault,
  type Json,
  type ParseAsk,
  Parsed,
  type Port,
  type PortHandler,
  WikiOpen,
} from "../contracts/mod.ts";
import { asJson } from "../port/as_json.ts";
import { parseBody } from "./ops/op.ts";
import { type OpenWiki, OPS, type WikiHands } from "./ops/mod.ts";
import { statusOf } from "./ops/open_wiki.ts";

/** What main.ts hands over. */
export interface WikiServiceParts {
  readonly now: () => number;
  readonly reader: WikiHands["reader"];
  /** Opens the wiki's folder and state, and all that works on them. */
  readonly open: (asked: WikiOpen, hands: WikiHands) => Promise<OpenWiki>;
}

/**
 * Makes the handler. Faults: `invalidInput` for an unknown op, a body of another shape, or before `open`;
 * `conflict` for a second `open`; and what the ops refuse.
 */
export function makeWikiService(
  port: Pick<Port, "ask" | "tell">,
  { now, reader, open }: WikiServiceParts,
): PortHandler {
  let opened: Promise<OpenWiki> | undefined;
  /** The last writer, or what it failed with, which is its asker's alone. */
  let last: Promise<unknown> = Promise.resolve();

  const hands: WikiHands = Object.freeze({
    ...{ now, reader },
    async parse(ask: ParseAsk) {
      const parsed = Parsed.safeParse(await port.ask("parse", asJson(ask)));
      if (parsed.success) return parsed.data;
      throw new Fault("upstream", `Cannot parse ${JSON.stringify(ask.name)}: no text came back`);
    },
    tell: (op: "progress" | "file", body: Json) => port.tell(op, body),
  });

  async function begin(body: Json): Promise<Json> {
    const asked = parseBody(WikiOpen, body);
    if (opened !== undefined) throw new Fault("conflict", "Cannot open a wiki: one is open");
    const opening = open(asked, hands);
    opened = opening;
    try {
      return asJson(statusOf(await opening));
    } catch (error) {
      opened = undefined;
      throw error;
    }
  }

  async function inTurn(work: () => Promise<Json>): Promise<Json> {
    const before = last;
    const mine = before.then(work, work);
    last = mine.catch(() => undefined);
    return await mine;
  }

  return Object.freeze<PortHandler>({
    async ask(op: string, body: Json): Promise<Json> {
      if (op === "open") return await begin(body);
      const found = Object.hasOwn(OPS, op) ? OPS[op] : undefined;
      if (found === undefined) {
        const named = JSON.stringify(op.slice(0, 100));
        throw new Fault("invalidInput", `Cannot serve ${named}: unknown to a wiki`);
      }
      if (opened === undefined) {
        throw new Fault("invalidInput", `Cannot serve ${JSON.stringify(op)}: no wiki is open`);
      }
      const wiki = await opened;
      return found.writes ? await inTurn(() => found.run(wiki, body)) : await found.run(wiki, body);
    },
    // Nothing is told to a wiki.
    tell(): void {},
  });
}
