/** Parses documents one after another, each in a process of its own. docs/decision/0014. @module */
import { Fault } from "../../../contracts/base/mod.ts";
import { type ParseAsk, Parsed } from "../../../contracts/wire/wire_wiki.ts";
import type { Port } from "../../../port/mod.ts";
import type { BuiltProgram } from "../../../launch/program/program_cache_powers.ts";
import { findPrograms } from "../../../launch/program/programs_powers.ts";
import type { WikiParser } from "../powers.ts";
import { type ParserProcess, type Programs, startParser } from "./parser_process_powers.ts";

export interface WikiParserParts {
  /** Finds the parser's program, or builds it once per version. */
  provideProgram(): Promise<BuiltProgram>;
  /** Milliseconds per document from its first byte. 60,000. */
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 60_000;
/** Characters of base64: pieces of 192 KiB. */
const PIECE = 262_144;

/**
 * Makes a parser of documents. Each process parses one document; the next one starts meanwhile, which hides
 * its start-up time.
 */
export function makeWikiParser(parts: WikiParserParts): WikiParser {
  const deadlineMs = parts.deadlineMs ?? DEADLINE_MS;
  const alive = new Set<ParserProcess>();
  let found: Promise<readonly [BuiltProgram, Programs]> | undefined;
  let spare: Promise<ParserProcess> | undefined;
  let before: Promise<unknown> = Promise.resolve();
  let closed = false;

  const start = async (): Promise<ParserProcess> => {
    found ??= Promise.all([parts.provideProgram(), findPrograms()]);
    const [program, programs] = await found;
    if (closed) throw gone();
    const running = startParser(program, programs);
    alive.add(running);
    void running.ended.then(() => alive.delete(running));
    return running;
  };

  const take = async (): Promise<ParserProcess> => {
    const waiting = await spare?.catch(() => undefined);
    spare = undefined;
    // A spare process that ended says nothing about this document.
    return waiting !== undefined && alive.has(waiting) ? waiting : await start();
  };

  const read = async (ask: ParseAsk): Promise<Parsed> => {
    if (closed) throw gone();
    const running = await take();
    spare = start();
    // On failure the next document starts another one.
    spare.catch(() => undefined);
    try {
      return await within(deadlineMs, ask, running);
    } catch (error) {
      if (closed) throw gone();
      throw error;
    } finally {
      running.kill();
      await running.ended;
    }
  };

  return Object.freeze<WikiParser>({
    parse(ask) {
      // One at a time: two hostile documents would take twice the memory.
      const now = before.then(() => read(ask));
      before = now.catch(() => undefined);
      return now;
    },
    async close() {
      closed = true;
      await spare?.catch(() => undefined);
      const all = [...alive];
      for (const running of all) running.kill();
      await Promise.all(all.map(({ ended }) => ended));
    },
  });
}

async function within(ms: number, ask: ParseAsk, running: ParserProcess): Promise<Parsed> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      late.reject(
        new Fault("timedOut", `Cannot read ${named(ask)}: it took longer than ${ms / 1_000} s`),
      ),
    ms,
  );
  const ended = running.ended.then((said) => {
    throw new Fault("upstream", `Cannot read ${named(ask)}: its parser ended ${said}`);
  });
  const asked = exchange(ask, running.port).catch(async (error: unknown) => {
    // The exit status, which arrives after the end of the pipe, has the reason.
    if (error instanceof Fault && error.code === "gone") return await ended;
    throw error;
  });
  try {
    return await Promise.race([asked, ended, late.promise]);
  } finally {
    clearTimeout(timer);
    ended.catch(() => undefined);
    asked.catch(() => undefined);
  }
}

/** Fault codes that a parser may report about a document; others mean that the parser failed. */
const DOCUMENT_FAULTS: ReadonlySet<string> = new Set(["invalidInput", "tooLarge"]);

async function exchange(ask: ParseAsk, port: Port): Promise<Parsed> {
  try {
    return await transfer(ask, port);
  } catch (error) {
    // TRUST: the parser has read hostile bytes, and could report anything.
    if (error instanceof Fault) {
      if (error.code === "gone") throw error;
      const aboutIt = error.message.startsWith(`Cannot read ${named(ask)}: `);
      if (DOCUMENT_FAULTS.has(error.code) && aboutIt) throw error;
    }
    throw new Fault("upstream", `Cannot read ${named(ask)}: its parser failed`, { cause: error });
  }
}

async function transfer(ask: ParseAsk, port: Port): Promise<Parsed> {
  const { kind, bytes } = ask;
  const size = Math.floor(bytes.length * 3 / 4) -
    (bytes.endsWith("==") ? 2 : bytes.endsWith("=") ? 1 : 0);
  await port.ask("begin", { kind, name: nameOf(ask), bytes: size });
  for (let at = 0; at < bytes.length; at += PIECE) {
    await port.ask("piece", { base64: bytes.slice(at, at + PIECE) });
  }
  // TRUST: from the parser, as above.
  return Parsed.parse(await port.ask("parse", null));
}

/** The name as sent to the parser, which repeats it in messages. */
function nameOf({ name }: ParseAsk): string {
  return name.slice(0, 512).toWellFormed();
}

function named(ask: ParseAsk): string {
  return JSON.stringify(nameOf(ask));
}

function gone(): Fault {
  return new Fault("gone", "Cannot read the document: the parser was closed");
}
