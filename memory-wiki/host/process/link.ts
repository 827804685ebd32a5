/** The session with a wiki's process. contracts/wire/wire_wiki.ts. Used by wiki_process_powers.ts. @module */
import { Fault, type Json, toJson } from "../../../contracts/base/mod.ts";
import { type ContentTrust, serveContents } from "../../../contracts/memory/mod.ts";
import { SourceKind } from "../../../contracts/memory/mod.ts";
import {
  type ParseAsk,
  WIKI_PORT_LIMITS,
  type WikiOpen,
} from "../../../contracts/wire/wire_wiki.ts";
import { makePort, type Port } from "../../../port/mod.ts";
import * as z from "zod";
import type { WikiLink } from "../powers.ts";
import { readStatus } from "../answers.ts";

/** A process connected by pipes. */
export interface WikiProcess {
  write(bytes: Uint8Array): void;
  readonly output: ReadableStream<Uint8Array>;
  /** Kills it and waits for its end. */
  kill(): Promise<void>;
  /** Closes its input and waits for its end. */
  finish(): Promise<void>;
  /** Its standard error: untrusted. */
  said(): string;
}

const Ask = z.object({
  kind: SourceKind,
  name: z.string().max(4_096),
  bytes: z.string().max(48 * 1024 * 1024),
});

/** Opens a wiki in a started process. Kills the process on failure. */
export async function openWikiLink(
  process: WikiProcess,
  parts: {
    readonly body: WikiOpen;
    readonly inside: (path: string) => string;
    /** Opens the record of content trust; called with the first question about content. */
    readonly contents: () => Promise<Pick<ContentTrust, "of" | "record" | "mark">>;
    readonly parse: (ask: ParseAsk) => Promise<Json>;
    readonly onEnd: () => Promise<void>;
    readonly complain: (text: string) => void;
  },
): Promise<WikiLink> {
  let listener: (op: string, body: Json) => void = () => undefined;
  let closing = false;
  const port: Port = makePort({
    limits: WIKI_PORT_LIMITS,
    write: (bytes) => process.write(bytes),
    handler: {
      async ask(op, body): Promise<Json> {
        const asked = Ask.safeParse(body);
        if (op === "parse" && asked.success) return await parts.parse(asked.data);
        const served = op.startsWith("content")
          ? serveContents(await parts.contents(), op, body)
          : undefined;
        if (served !== undefined) return served;
        throw new Fault(
          "badFrame",
          "Cannot serve the wiki's process: it asks for what there is not",
        );
      },
      tell: (op, body) => listener(op, body),
    },
  });
  const pumped = (async (): Promise<void> => {
    for await (const chunk of process.output) port.feed(chunk);
    if (!closing && process.said().trim() !== "") parts.complain(process.said());
    port.close("the wiki's process has ended");
  })();
  const end = async (how: "finish" | "kill"): Promise<void> => {
    if (closing) return;
    closing = true;
    port.close("the command is over");
    await process[how]();
    await pumped;
    await parts.onEnd();
  };
  // A process that broke the protocol is killed.
  void port.closed.then(() => closing ? undefined : process.kill());
  let status: WikiLink["status"];
  try {
    status = readStatus(await port.ask("open", toJson(parts.body)));
  } catch (error) {
    await end("kill");
    throw error;
  }
  return Object.freeze<WikiLink>({
    status,
    ask: (op, body) => port.ask(op, body),
    onTell: (next) => void (listener = next),
    inside: parts.inside,
    close: () => end("finish"),
  });
}
