/**
 * The tools `process_…` as the gate knows them: starting is granted, the others act on a session.
 * @module
 */
import type { GrantedCommand } from "../../contracts/tool/command.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { type JsonObject, toJson, toJsonObject } from "../../contracts/base/json.ts";
import type {
  GrantedCall,
  PowerResult,
  Resolved,
  ToolBinding,
} from "../../contracts/task/power.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import {
  type ProcessSessions,
  SESSION_SIGNALS,
  type SessionEnd,
  type SessionFacts,
  type SessionOutput,
  type SessionSignal,
  type SessionState,
  type SessionTaint,
  type TerminalSize,
} from "../../contracts/tool/process_session.ts";
import { type CommandCall, readCall, shownWords } from "./arguments.ts";
import { type CommandParts, SANDBOX_PROGRAMS } from "./binding.ts";
import { notesOf, placeOf, resolveNative } from "./native.ts";
import {
  POLL_BYTES,
  POLL_MS,
  PROCESS_VERBS,
  processDescriptor,
  type ProcessVerb,
} from "./process_descriptors.ts";

/** The powers of {@link bindProcesses}: a task's. */
interface ProcessParts
  extends Pick<CommandParts, "classes" | "readScope" | "redeem" | "processOf"> {
  readonly sessions: ProcessSessions;
  /** Folds a session's staged changes into the workspace. */
  fold(record: JsonObject): void;
}

/** Milliseconds for a call where the gate keeps the time; sessions keep time themselves. */
const DEADLINE_MS = 120_000;
const RESULT_BYTES = 131_072;

/** Binds the tools for a task; none where no class permits sessions. */
export function bindProcesses(parts: ProcessParts): readonly ToolBinding[] {
  const { sessions } = parts;
  const classes = new Map(parts.classes.map((command) => [String(command.name), command]));

  const resolveOn = (args: JsonObject, caller: ProcessRow, verb: ProcessVerb): Resolved => {
    const id = readSession(args);
    const facts = sessions.look(caller, id);
    const { colour, label } = caller;
    return {
      scopes: facts.scopes,
      effect: verb === "poll" ? "read" : "stage",
      digests: { program: facts.command.sha256 },
      ...{ colour, label },
      summary: `${whatTo(verb, args)} ${id.slice(0, 9)}…: ${wordsOf(facts)}`,
      // A session that a crash ended cannot be written to again.
      idempotent: verb === "poll" || verb === "close",
    };
  };

  const start = async (granted: GrantedCall, signal: AbortSignal): Promise<PowerResult> => {
    const call = readStart(granted.args);
    const command = sessionClass(classes, call);
    const caller = parts.processOf(granted.pid);
    if (caller === undefined) {
      throw new Fault("gone", `Cannot start ${command.name}: its process has ended`);
    }
    const { scopes, digests } = granted.resolved;
    const sessionMs = command.session?.ms ?? 0;
    const { id, ...taint } = await sessions.start({
      ...{ task: granted.task, pid: granted.pid, ...taintOf(granted), scopes, command },
      ...{ sha256: digests["program"] ?? "", args: call.args, env: call.env },
      ...placeOf(command, call, caller),
      lifeMs: Math.min(call.timeoutMs ?? sessionMs, sessionMs),
      ...(call.terminal === undefined ? {} : { terminal: call.terminal }),
    }, signal);
    return {
      content: `[session ${id} runs; read it with process_poll]\n`,
      ...{ ...taint, sources: sourcesOf(command, taint), value: toJson({ session: id }) },
    };
  };

  const act = async (
    verb: Exclude<ProcessVerb, "start">,
    granted: GrantedCall,
    signal: AbortSignal,
  ): Promise<PowerResult> => {
    const { args } = granted, id = readSession(args), taint = taintOf(granted);
    const { command } = sessions.look(granted, id);
    if (verb === "poll") {
      return resultOf(command, await sessions.poll(granted, id, readPoll(args), signal));
    }
    if (verb === "close") {
      const { bytes } = readPoll(args);
      return endOf(command, await sessions.finish(granted, id, { bytes }, signal));
    }
    const state: SessionState & { readonly unread?: number } = verb === "write"
      ? await sessions.write(granted, id, { ...taint, ...readWrite(args) })
      : await sessions.signal(granted, id, { ...taint, signal: readSignal(args) });
    const { unread = 0 } = state;
    const known = sessions.look(granted, id);
    return {
      content: lines([
        stateOf(state),
        ...(unread === 0 ? [] : [`[${unread} bytes wait for the program to read them]`]),
      ]),
      ...{ colour: known.colour, label: known.label, sources: sourcesOf(command, known) },
      value: toJson({ ...state }),
    };
  };

  const bind = (verb: ProcessVerb): ToolBinding => {
    return Object.freeze<ToolBinding>({
      descriptor: processDescriptor(verb, parts.classes),
      effect: verb === "poll" ? "read" : "stage",
      ...{ deadlineMs: DEADLINE_MS, keepsDeadline: true, resultBytes: RESULT_BYTES },
      resolve(args, caller): Resolved {
        if (verb !== "start") return resolveOn(args, caller, verb);
        const call = readStart(args);
        const command = sessionClass(classes, call);
        const resolved = resolveNative(command, call, { caller, readScope: parts.readScope });
        const how = call.terminal === undefined ? "" : " with a terminal";
        return {
          ...resolved,
          summary: `start${how}, to go on after the call: ${resolved.summary}`,
        };
      },
      async invoke(granted, signal): Promise<PowerResult> {
        parts.redeem(granted);
        return verb === "start" ? await start(granted, signal) : await act(verb, granted, signal);
      },
      committed(_granted, { record }): void {
        if (record !== undefined) parts.fold(record);
      },
    });
  };
  if (parts.classes.every(({ session }) => session === undefined)) return [];
  return PROCESS_VERBS.map(bind);
}

/** The class of a program that may have a session. Throws Fault `invalidArguments`, `refused`. */
function sessionClass(
  classes: ReadonlyMap<string, GrantedCommand>,
  { program, terminal }: StartCall,
): GrantedCommand {
  const command = classes.get(program);
  if (command === undefined) {
    const names = [...classes.values()].filter(({ session }) => session !== undefined);
    const why = SANDBOX_PROGRAMS.includes(program)
      ? "a program of the sandbox has no session; run it with command"
      : `there are ${names.map(({ name }) => name).join(", ")}`;
    throw new Fault("invalidArguments", `Cannot start ${shownWords([program])}: ${why}`);
  }
  const ask = (what: string): string =>
    `ask the operator to say so in remit.yaml, commands: ${command.name}: ${what}: true`;
  if (command.session === undefined) {
    throw new Fault(
      "refused",
      `Cannot start ${command.name}: it may not go on after a call; run it with command, or ` +
        ask("session"),
    );
  }
  if (terminal !== undefined && !command.session.pty) {
    throw new Fault(
      "refused",
      `Cannot start ${command.name} with a terminal: it may not have one; ${ask("pty")}`,
    );
  }
  return command;
}

function whatTo(verb: ProcessVerb, args: JsonObject): string {
  if (verb === "write") {
    const { text, end } = readWrite(args);
    return `write ${shownWords([text])}${end ? " and the end of input" : ""} to session`;
  }
  if (verb === "signal") return `send ${readSignal(args)} to session`;
  return verb === "poll" ? "read session" : "end, and stage what changed in, session";
}

function wordsOf({ command, args, cwd }: SessionFacts): string {
  return `${shownWords([command.program, ...args])} in ${shownWords([cwd])}`;
}

function taintOf({ resolved }: GrantedCall): SessionTaint {
  const { colour = "RED", label = "secret" } = resolved;
  return { colour, label };
}

function sourcesOf(
  { name }: GrantedCommand,
  { colour, label }: SessionTaint,
): PowerResult["sources"] {
  return [{ source: `session of ${name}`, colour, label }];
}

function stateOf({ state, exit, why }: SessionState): string {
  if (state === "running") return "[running]";
  return `[exited ${exit ?? "?"}${why === undefined ? "" : `: ${why}`}]`;
}

function lines(parts: readonly string[]): string {
  return parts.filter((part) => part !== "")
    .map((part) => part.endsWith("\n") ? part : `${part}\n`).join("");
}

function resultOf(
  command: GrantedCommand,
  output: SessionOutput,
  notes: readonly string[] = [],
): PowerResult {
  const { stdout, stderr, more, dropped, colour, label } = output;
  const { state, exit, why } = output;
  return {
    content: lines([
      ...(dropped === 0 ? [] : [`[${dropped} bytes of older output were dropped]`]),
      stdout,
      ...(stderr === "" ? [] : [`[stderr]\n${stderr}`]),
      ...(more ? ["[more output waits: poll again, or with newest]"] : []),
      stateOf(output),
      ...notes,
    ]),
    ...{ colour, label, sources: sourcesOf(command, output) },
    value: toJson({
      ...{ state, stdout, stderr, more, dropped },
      ...(exit === undefined ? {} : { exit }),
      ...(why === undefined ? {} : { why }),
    }),
  };
}

function endOf(command: GrantedCommand, end: SessionEnd): PowerResult {
  const { staged, unstaged, left, writtenBytes } = end;
  const result = resultOf(command, end, notesOf(end));
  return {
    ...result,
    value: toJson({
      ...{ exit: end.exit ?? null, stdout: end.stdout, stderr: end.stderr },
      ...{ dropped: end.dropped, staged: staged.map(({ path }) => path), left },
    }),
    ...(staged.length + unstaged.length === 0
      ? {}
      : { record: toJsonObject({ staged, unstaged }) }),
    writtenBytes,
  };
}

// Parses arguments of session calls, which the gate has checked against their schema.

/** The arguments of a start. */
interface StartCall extends CommandCall {
  readonly terminal?: TerminalSize;
}

const bad = (name: string, why: string): Fault =>
  new Fault("invalidArguments", `Cannot use argument "${name}": ${why}`);

function numberOf(args: JsonObject, name: string, absent: number): number {
  const value = args[name] ?? absent;
  if (typeof value !== "number") throw bad(name, "it is not a number");
  return value;
}

/** Throws Fault `invalidArguments`, as all parsers below do. */
function readStart(args: JsonObject): StartCall {
  const call = readCall(args);
  if (args["pty"] === true) {
    const [rows, columns] = [numberOf(args, "rows", 24), numberOf(args, "columns", 80)];
    return { ...call, terminal: { rows, columns } };
  }
  if (args["rows"] === undefined && args["columns"] === undefined) return call;
  throw bad("rows", "only a terminal has a size; set pty");
}

/** The session that a call names. */
function readSession(args: JsonObject): string {
  const { session } = args;
  if (typeof session === "string") return session;
  throw bad("session", "it is not a text");
}

/** The arguments of a poll. */
function readPoll(
  args: JsonObject,
): { readonly waitMs: number; readonly bytes: number; readonly newest: boolean } {
  return {
    waitMs: numberOf(args, "waitMs", POLL_MS),
    bytes: numberOf(args, "bytes", POLL_BYTES),
    newest: args["newest"] === true,
  };
}

/** The arguments of a write. */
function readWrite(args: JsonObject): { readonly text: string; readonly end: boolean } {
  const { text, end } = args;
  if (typeof text !== "string") throw bad("text", "it is not a text");
  if (!text.isWellFormed()) throw bad("text", "its text is broken");
  return { text, end: end === true };
}

/** The signal, one of a closed set. */
function readSignal(args: JsonObject): SessionSignal {
  const found = SESSION_SIGNALS.find((each) => each === args["signal"]);
  if (found !== undefined) return found;
  throw bad("signal", `it must be one of ${SESSION_SIGNALS.join(", ")}`);
}
