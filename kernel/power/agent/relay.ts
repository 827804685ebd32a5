/**
 * The relay of one run: a process that holds the provider's key but decides nothing. Requests of
 * the foreign agent to its provider, and calls of offered tools, are passed to the task here. Used
 * by runs.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { Json } from "../../../contracts/base/json.ts";
import {
  type ForeignAgent,
  type RelayAnswer,
  RelaySaid,
  type RelaySetup,
} from "../../../contracts/tool/foreign_agent.ts";
import type { KernelConfig, Secret } from "../../../contracts/wire/wire_control.ts";
import { lineOfAgentRelay } from "../../core/start/agent_line.ts";
import type { WallConfig } from "../../core/start/line_parts.ts";
import type { RunPowers } from "../command/command_spawn_powers.ts";
import type { AgentPort, AgentRun, AgentRuns, LetThrough } from "../command/run.ts";

/** The programs, secrets and powers of a relay. */
export interface RelayParts {
  readonly config: WallConfig & Pick<KernelConfig, "bundles" | "runtime">;
  readonly programs: RunPowers;
  readonly disk: {
    makeDir(path: string): Promise<void>;
    remove(path: string): Promise<void>;
  };
  /** A secret of the operator, as it is now. */
  secret(name: string): Secret | undefined;
  readonly powers: { after(ms: number, call: () => void): () => void; token(): string };
}

/** The run of a relay. */
export type RelayRun = Pick<Parameters<AgentRuns["begin"]>[1], "id" | "end" | "pause">;

/** A listening relay. */
export interface Relay extends Pick<AgentRun, "told" | "close"> {
  readonly socket: string;
}

/** Path of the offered tools, beneath the relay's address. */
export const TOOLS_PATH = "/remit/tools";

/** Milliseconds until a relay must listen. */
const READY_MS = 15_000;
/** Refusals listed for a run. */
const MAX_TOLD = 20;
/** Concurrent requests; more are refused. */
const MAX_OPEN = 64;
/** Characters of a relay's line, which contains a call's arguments. */
const MAX_LINE = 4 * 1024 * 1024;

/** The relay's provider and key. @throws Fault `refused` without the key */
function providerOf(
  { secret }: Pick<RelayParts, "secret">,
  { name, provider }: ForeignAgent,
): RelaySetup["provider"] {
  if (provider === undefined) return undefined;
  const { wire, origin, secret: wanted } = provider;
  const key = secret(wanted);
  if (key !== undefined && key.origin === origin) {
    return { wire, origin, header: key.header, value: `${key.prefix}${key.value}` };
  }
  throw new Fault(
    "refused",
    `Cannot run ${name}: no secret "${wanted}" is kept for ${origin}; "remit secret set ${wanted}" keeps one`,
  );
}

/** Starts a relay; resolves once it listens. Rejects with `refused`, `unavailable`. */
export async function startRelay(
  parts: RelayParts,
  agent: ForeignAgent,
  { port, run }: { readonly port: AgentPort; readonly run: RelayRun },
): Promise<Relay> {
  const { config, programs, disk, powers } = parts;
  const provider = providerOf(parts, agent);
  // clearRooms finds this name after a crash.
  const token = powers.token().replaceAll(/[^A-Za-z0-9]/g, "").slice(0, 12);
  const room = `${config.runtime}/agents/run-${token}`;
  await disk.makeDir(room);
  const setup: RelaySetup = {
    tokens: agent.tokens,
    ...(provider === undefined ? {} : { provider }),
    ...(port.tools.length === 0 ? {} : { tools: TOOLS_PATH }),
  };
  const ready = Promise.withResolvers<void>();
  const { secret = "" } = agent.provider ?? {};
  const answering = makeAnswering(
    { port, run, secret, ready: ready.resolve },
    (answer) => program.tell(lineOf(answer)),
  );
  const hearLines = makeLines({
    max: MAX_LINE,
    line: answering.hear,
    // The line is lost, and with it the request that waits for an answer.
    tooLong() {
      const why = failed(`said more than ${MAX_LINE} characters in one line`);
      ready.reject(why);
      run.end(why);
      program.kill();
    },
  });
  let errors = "";
  const program = programs.run({
    ...lineOfAgentRelay(config, { room, socketName: "s", at: provider?.origin }),
    ...{ stdin: lineOf(setup), told: true },
    onOutput: hearLines,
    onErrors(chunk) {
      errors = (errors + new TextDecoder().decode(chunk)).slice(-1_000);
    },
  });
  const failed = (why: string): Fault =>
    new Fault("unavailable", `Cannot run ${agent.name}: the relay to its provider ${why}`);
  let closing = false;
  const close = async (): Promise<void> => {
    closing = true;
    program.kill();
    await program.ended;
    await answering.close();
    await disk.remove(room);
  };
  const cancel = powers.after(READY_MS, () => ready.reject(failed("does not listen")));
  void program.ended.then(() => {
    const why = failed(`ended: ${errors.slice(-300)}`);
    ready.reject(why);
    // Otherwise the agent would wait for an answer until its deadline.
    if (!closing) run.end(why);
  });
  try {
    await ready.promise;
  } catch (error) {
    await close();
    throw error;
  } finally {
    cancel();
  }
  return Object.freeze({ socket: `${room}/s`, told: answering.told, close });
}

/** Answers a relay's requests. */
interface Answering extends Pick<AgentRun, "told"> {
  hear(line: string): void;
  /** Called after the relay's end: cancels running requests and books permitted inferences. */
  close(): Promise<void>;
}

function makeAnswering(
  { port, run, secret, ready }: {
    readonly port: AgentPort;
    /** The name of the provider's key. */
    readonly secret: string;
    readonly run: RelayRun;
    ready(): void;
  },
  answer: (answer: RelayAnswer) => void,
): Answering {
  const told: string[] = [];
  const abort = new AbortController();
  const through = new Map<number, LetThrough>();
  const under = new Set<Promise<void>>(), booking: Promise<void>[] = [];
  const used = { requests: 0, input: 0, output: 0, calls: 0 };
  const key =
    `provider: it does not take the key "${secret}"; "remit secret set ${secret}" keeps another`;
  let more = 0;
  const note = (line: string): void => {
    if (told.length < MAX_TOLD) told.push(line);
    else more += 1;
  };
  /** Answers one request. One that needs a person's decision ends the run, which is repeated after the answer. */
  const asked = (id: number, work: () => Promise<RelayAnswer>): void => {
    if (under.size >= MAX_OPEN) return answer({ id, refused: `${MAX_OPEN} are under way` });
    const resume = run.pause();
    const done = (async (): Promise<void> => {
      try {
        answer(await work());
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        if (error.code === "needsApproval") run.end(error);
        else note(`refused: ${error.message}`);
        answer({ id, refused: error.message.slice(0, 512) });
      } finally {
        resume();
      }
    })().finally(() => under.delete(done));
    under.add(done);
  };
  return Object.freeze<Answering>({
    hear(line): void {
      // TRUST: the relay passes on an agent's text.
      const { data: said } = RelaySaid.safeParse(parsed(line));
      if (said === undefined) return;
      if ("ready" in said) ready();
      else if ("refused" in said) note(`refused at the provider's relay: ${said.refused}`);
      else if ("failed" in said) {
        note(`provider: ${said.failed}`);
        if (/answered 40[13]\b/.test(said.failed) && told.at(-1) !== key) note(key);
      } else if ("infer" in said) {
        asked(said.id, async () => {
          const passed = await port.infer(said.infer, abort.signal);
          through.set(said.id, passed);
          booking.push(passed.booked);
          return { id: said.id, maxTokens: passed.maxTokens };
        });
      } else if ("ended" in said) {
        const passed = through.get(said.id);
        through.delete(said.id);
        passed?.ended(said.used);
        if (said.used === undefined) return;
        used.requests += 1;
        used.input += said.used.input;
        used.output += said.used.output;
      } else if ("list" in said) answer({ id: said.id, tools: port.tools });
      else {
        used.calls += 1;
        const { id, call: tool, args } = said;
        // INVARIANT: the same call of a repeated run has the same id, whatever its process, so that a person's answer covers it.
        const call = { id: `${run.id.slice(run.id.indexOf("-") + 1)}/${used.calls}`, tool, args };
        asked(id, async () => ({ id, ...await port.call(call, abort.signal) }));
      }
    },
    async close(): Promise<void> {
      abort.abort();
      await Promise.allSettled(under);
      for (const passed of through.values()) passed.ended("lost");
      await Promise.allSettled(booking);
      port.close();
    },
    told: () =>
      [
        ...told,
        ...(more === 0 ? [] : [`… and ${more} more of these`]),
        `provider: ${used.requests} requests, ${used.input} tokens in, ${used.output} out`,
        ...(used.calls === 0 ? [] : [`tools of its task: ${used.calls} calls`]),
      ].map((line) => `${line}\n`).join(""),
  });
}

function lineOf(value: RelaySetup | RelayAnswer): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(value)}\n`);
}

function parsed(line: string): Json | undefined {
  try {
    return JSON.parse(line) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The limit and the listeners of {@link makeLines}. */
export interface LinesParts {
  /** Characters of a line, at most. */
  readonly max: number;
  /** Called with each line, without its newline. */
  line(text: string): void;
  /** Called once, at the first longer line; later input is ignored. */
  tooLong(): void;
}

/** Makes the function that takes the stream's chunks; a chunk is only used during the call. */
export function makeLines({ max, line, tooLong }: LinesParts): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder();
  let pieces: string[] = [], length = 0, over = false;
  /** Adds a piece; false where the line is too long. */
  const take = (piece: string): boolean => {
    length += piece.length;
    if (length <= max) {
      pieces.push(piece);
      return true;
    }
    over = true;
    pieces = [];
    tooLong();
    return false;
  };
  return (chunk) => {
    if (over) return;
    const text = decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      if (!take(text.slice(from, end))) return;
      from = end + 1;
      const whole = pieces.join("");
      pieces = [];
      length = 0;
      line(whole);
    }
    take(text.slice(from));
  };
}
