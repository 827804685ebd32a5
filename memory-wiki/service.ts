/** The wiki's process behind its port: one wiki, opened once; writes one after another, reads concurrently. @module */
import * as z from "zod";
import { Colour, Label } from "../contracts/authority/mod.ts";
import { Fault, type Json, type Port, type PortHandler } from "../contracts/base/mod.ts";
import { type ParseAsk, Parsed, WikiOpen } from "../contracts/wire/mod.ts";
import { asJson } from "../port/as_json.ts";
import { type OpenWiki, OPS, type WikiPowers } from "./ops/mod.ts";
import { parseBody, statusOf } from "./ops/op.ts";

/** Powers that main.ts hands over. */
export interface WikiServiceParts {
  readonly now: () => number;
  readonly reader: WikiPowers["reader"];
  /** Opens the wiki's folder and state. */
  readonly open: (asked: WikiOpen, powers: WikiPowers) => Promise<OpenWiki>;
}

/** Expired notes are erased when a wiki is opened, and with the first request of each day. */
const DAY_MS = 24 * 60 * 60_000;

const Known = z.object({ colour: Colour, label: Label }).strict();

/**
 * Makes the handler. Faults: `invalidInput` for an unknown op, a malformed body, or a request before `open`;
 * `conflict` for a second `open`; and those of the ops.
 */
export function makeWikiService(
  port: Pick<Port, "ask" | "tell">,
  { now, reader, open }: WikiServiceParts,
): PortHandler {
  let opened: Promise<OpenWiki> | undefined;
  /** The last write, settled: its failure concerns only its own caller. */
  let last: Promise<unknown> = Promise.resolve();

  const powers: WikiPowers = Object.freeze({
    ...{ now, reader },
    async parse(ask: ParseAsk) {
      const parsed = Parsed.safeParse(await port.ask("parse", asJson(ask)));
      if (parsed.success) return parsed.data;
      throw new Fault("upstream", `Cannot parse ${JSON.stringify(ask.name)}: no text came back`);
    },
    async known(digest: string) {
      return Known.parse(await port.ask("contentKnown", { digest }));
    },
    tell: (op: "progress" | "file", body: Json) => port.tell(op, body),
  });

  async function begin(body: Json): Promise<Json> {
    const asked = parseBody(WikiOpen, body);
    if (opened !== undefined) throw new Fault("conflict", "Cannot open a wiki: one is open");
    const opening = open(asked, powers);
    opened = opening;
    try {
      const wiki = await opening;
      sweep(wiki);
      await tellContents(wiki);
      return asJson(statusOf(wiki));
    } catch (error) {
      opened = undefined;
      throw error;
    }
  }

  /** Reports the trust of new content to the kernel before the caller learns of it. */
  async function tellContents({ store, readOnly }: OpenWiki): Promise<void> {
    if (readOnly) return;
    for (let more = store.contents.list(); more.length > 0; more = store.contents.list()) {
      await port.ask("contentRecord", asJson({ contents: more }));
      store.contents.told(more);
    }
  }

  let swept = 0;

  /** Erases expired notes and records it in the wiki's log. */
  function sweep({ store, readOnly }: OpenWiki): void {
    if (readOnly || now() < swept + DAY_MS) return;
    swept = now();
    const gone = store.notes.sweep();
    if (gone === 0) return;
    const text = `${gone} ${gone === 1 ? "note has" : "notes have"} expired and been erased`;
    store.log.append({ kind: "note", by: "remit", text });
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
      sweep(wiki);
      try {
        return found.writes
          ? await inTurn(() => found.run(wiki, body))
          : await found.run(wiki, body);
      } finally {
        await tellContents(wiki);
      }
    },
    // The wiki takes no events.
    tell(): void {},
  });
}
