import assert from "node:assert/strict";
import { Fault, type Json, toJson } from "../../../contracts/base/mod.ts";
import { NOTHING_KNOWN } from "../../../contracts/memory/mod.ts";
import type { ParseAsk } from "../../../contracts/wire/mod.ts";
import { makePort, type Port } from "../../../port/mod.ts";
import { EMPTY_WIKI } from "../../../cli/_fixture/wikis.ts";
import { openWikiLink, type WikiProcess } from "./link.ts";
import type { WikiLink } from "../powers.ts";

type Handler = (op: string, body: Json, port: Port) => Json | Promise<Json>;

interface Far {
  readonly process: WikiProcess;
  readonly ends: string[];
  /** Bytes as the process would write them. */
  say(bytes: string): void;
  end(): void;
}

/** A process at the other end, as far as pipes show it. */
function farEnd(handler: Handler): Far {
  const ends: string[] = [];
  const output = new TransformStream<Uint8Array, Uint8Array>();
  const writer = output.writable.getWriter();
  const put = (bytes: Uint8Array): void => void writer.write(bytes.slice()).catch(() => undefined);
  const port: Port = makePort({
    trusted: true,
    write: put,
    handler: { ask: (op, body) => handler(op, body, port), tell: () => undefined },
  });
  const end = (): void => void writer.close().catch(() => undefined);
  const over = (how: string) => (): Promise<void> => {
    ends.push(how);
    end();
    return Promise.resolve();
  };
  return {
    ends,
    say: (text) => put(new TextEncoder().encode(text)),
    end,
    process: {
      write: (bytes) => port.feed(bytes.slice()),
      output: output.readable,
      kill: over("kill"),
      finish: over("finish"),
      said: () => "",
    },
  };
}

function open(far: Far, parse: (ask: ParseAsk) => Promise<Json>): Promise<WikiLink> {
  return openWikiLink(far.process, {
    body: { folder: "/w", stateFolder: "/s", create: false, trustedKeys: [], readOnly: false },
    inside: (path) => path,
    contents: NOTHING_KNOWN,
    parse,
    onEnd: () => Promise.resolve(),
    complain: () => undefined,
  });
}
const never = (): Promise<Json> => Promise.reject(new Fault("refused", "Cannot parse: a test"));

Deno.test("a wiki is opened first, its questions are served, and it ends when the command does", async () => {
  const parsed: string[] = [];
  const far = farEnd((op, body, port) => {
    if (op === "open") return toJson(EMPTY_WIKI);
    return op === "read" ? port.ask("parse", { kind: "pdf", name: "a.pdf", bytes: "AAAA" }) : body;
  });
  const link = await open(far, (ask) => {
    parsed.push(ask.name);
    return Promise.resolve("text");
  });
  assert.equal(link.status.pages, 0);
  assert.equal(await link.ask("read", null), "text");
  assert.deepEqual(parsed, ["a.pdf"]);
  await link.close();
  await link.close();
  assert.deepEqual(far.ends, ["finish"]);
  await assert.rejects(link.ask("read", null), { code: "gone" });
});

Deno.test("a process that asks for what there is not is refused, and goes on", async () => {
  const far = farEnd(async (op, _body, port) => {
    if (op === "open") return toJson(EMPTY_WIKI);
    const answers: string[] = [];
    for (const [asked, body] of [["run", "rm"], ["parse", { kind: "exe" }]] as const) {
      await port.ask(asked, body).catch((error) => answers.push(error.code));
    }
    return answers;
  });
  const link = await open(far, never);
  assert.deepEqual(await link.ask("read", null), ["badFrame", "badFrame"]);
  await link.close();
});

Deno.test("a process that breaks the protocol, or gives no status, is killed and not waited for", async () => {
  const broken = farEnd(() => toJson(EMPTY_WIKI));
  const link = await open(broken, never);
  const waiting = link.ask("status", null);
  broken.say('[-99,null,"forged"]\n');
  await assert.rejects(waiting.then(() => link.ask("status", null)), { code: "badFrame" });
  assert.deepEqual(broken.ends, ["kill"]);
  const mute = farEnd(() => ({ pages: "many" }));
  await assert.rejects(open(mute, never), { code: "upstream" });
  assert.deepEqual(mute.ends, ["kill"]);
  const fault = farEnd(() => {
    throw new Fault("notFound", "Cannot open: no wiki");
  });
  await assert.rejects(open(fault, never), { code: "notFound" });
  const gone = farEnd(() => new Promise<Json>(() => undefined));
  const opening = open(gone, never);
  gone.end();
  await assert.rejects(opening, { code: "gone" });
});
