/** Runs of the machine's programs, in the form of the kernel's runner. @module */
import type { Colour, Label } from "../../contracts/authority/colour.ts";
import type { Collected, GrantedCommand } from "../../contracts/tool/command.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { Pid, TaskId } from "../../contracts/authority/ids.ts";
import { type Json, type JsonObject, toJson, toJsonObject } from "../../contracts/base/json.ts";
import type { Scope } from "../../contracts/authority/lease.ts";
import type { GrantedCall, PowerResult, Resolved } from "../../contracts/task/power.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import { type CommandCall, readCall, shownWords } from "./arguments.ts";

/** One run. See kernel/power/command/run.ts. */
export interface NativeRun {
  readonly task: TaskId;
  readonly pid: Pid;
  readonly id: string;
  readonly command: GrantedCommand;
  readonly sha256: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly mounts: readonly string[];
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly bytes: number;
  readonly lines: number;
  readonly scopes: readonly Scope[];
  readonly colour: Colour;
  readonly label: Label;
}

export interface NativeRan extends Omit<Collected, "untouched"> {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly cut: boolean;
  readonly ms: number;
  readonly withheld: number;
  readonly colour: Colour;
  readonly label: Label;
}

/** Maximum number of paths in a result. */
const MAX_NAMED = 20;

/** The scope of a workspace path. Throws Fault `notFound`, `invalidArguments`. */
export type ReadScope = (path: string, process: Pick<ProcessRow, "mounts">) => Scope;

/** What exactly a run would touch. Throws Fault `invalidArguments`, `refused`, `notFound`. */
export function resolveNative(
  command: GrantedCommand,
  call: CommandCall,
  { caller, readScope }: { readonly caller: ProcessRow; readonly readScope: ReadScope },
): Resolved {
  checkCall(command, call);
  const { cwd, mounts } = placeOf(command, call, caller);
  // Judges the folder's name, too: only a mount or a folder within one is allowed.
  if (readScope(cwd, caller).resource !== "mount") {
    throw new Fault("refused", `Cannot run ${command.name} in "${cwd}": it runs in mounts only`);
  }
  const { colour, label } = caller;
  return {
    scopes: [
      { resource: "command", right: "use", path: command.name },
      ...mounts.map((mount): Scope => ({ resource: "mount", right: "read", path: mount })),
    ],
    effect: "stage",
    digests: { program: command.sha256 },
    ...{ colour, label },
    summary: `run in ${shownWords([cwd])}: ${shownWords([command.program, ...call.args])} ` +
      `(sha256 ${command.sha256.slice(0, 16)}…)`,
    idempotent: true,
  };
}

/** Checks a call against the limits of the operator's class. */
function checkCall(command: GrantedCommand, { args, env }: CommandCall): void {
  const { name } = command;
  const first = args[0];
  if (command.args !== undefined && (first === undefined || !command.args.includes(first))) {
    throw new Fault(
      "refused",
      `Cannot run ${name} ${shownWords(args.slice(0, 1))}: its first argument must be one of ` +
        `${
          command.args.join(", ")
        } (ask the operator to add it in remit.yaml, commands: ${name}: args)`,
    );
  }
  for (const variable of Object.keys(env)) {
    if (command.env.includes(variable)) continue;
    throw new Fault(
      "refused",
      `Cannot set ${shownWords([variable])} for ${name}: it is not among ` +
        `[${command.env.join(", ")}] (remit.yaml, commands: ${name}: env)`,
    );
  }
}

/** Where a call runs, and which mounts it sees. Throws Fault `invalidArguments`. */
export function placeOf(
  command: GrantedCommand,
  { cwd }: Pick<CommandCall, "cwd">,
  caller: Pick<ProcessRow, "mounts">,
): { readonly cwd: string; readonly mounts: readonly string[] } {
  const names = caller.mounts.map(({ name }) => String(name));
  const at = cwd ?? (names.length === 1 ? names[0] : undefined);
  if (at === undefined) {
    throw new Fault(
      "invalidArguments",
      `Cannot run ${command.name}: give cwd, one of ${names.join(", ") || "no mounts"}, or below`,
    );
  }
  const own = at.split("/", 1)[0] ?? "";
  return { cwd: at, mounts: command.mounts === "all" ? names : [own] };
}

/** Runs a resolved call. */
export async function invokeNative(
  command: GrantedCommand,
  granted: GrantedCall,
  { mounts, run }: {
    /** Mounts of the calling process. */
    readonly mounts: ProcessRow["mounts"];
    run(run: NativeRun): Promise<NativeRan>;
  },
): Promise<PowerResult> {
  const call = readCall(granted.args);
  const { colour = "RED", label = "secret", scopes, digests } = granted.resolved;
  const ran = await run({
    ...{ task: granted.task, pid: granted.pid, id: `${granted.pid}-${granted.callId}` },
    ...{ command, sha256: digests["program"] ?? "", args: call.args },
    ...placeOf(command, call, { mounts }),
    ...{ stdin: call.stdin, env: call.env, bytes: call.bytes, lines: call.lines },
    timeoutMs: Math.min(call.timeoutMs ?? command.timeoutMs, command.timeoutMs),
    ...{ scopes, colour, label },
  });
  const { exit, stdout, stderr, cut, ms, staged, unstaged, left } = ran;
  return {
    content: contentOf({ exit, stdout, stderr, cut }, notesOf(ran)),
    ...{ colour: ran.colour, label: ran.label },
    sources: [{ source: `command ${command.name}`, colour: ran.colour, label: ran.label }],
    value: toJson({ exit, stdout, stderr, cut, ms, staged: staged.map(({ path }) => path), left }),
    ...(staged.length + unstaged.length === 0
      ? {}
      : { record: toJsonObject({ staged, unstaged }) }),
    writtenBytes: ran.writtenBytes,
  };
}

/** A run's changes, in lines for a model. */
export function notesOf(
  { staged, unstaged, left, withheld }: Pick<
    NativeRan,
    "staged" | "unstaged" | "left" | "withheld"
  >,
): readonly string[] {
  const listed = (what: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : [
      `[${what}]`,
      ...lines.slice(0, MAX_NAMED),
      ...(lines.length > MAX_NAMED ? [`… and ${lines.length - MAX_NAMED} more`] : []),
    ];
  return [
    ...listed(
      "staged; nothing is in the folder before patch_apply",
      staged.map(({ path, base, next }) =>
        `${next === undefined ? "delete" : base === undefined ? "new" : "change"} ${path}`
      ),
    ),
    ...listed("as the folder has it again", unstaged),
    ...listed("not kept", left),
    ...(withheld === 0
      ? []
      : [`[${withheld} ${withheld === 1 ? "file was" : "files were"} not shown to the program]`]),
  ];
}

// A run's result, as text for a model and as a value for programs.

/** The value of a run. */
interface CommandValue {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly cut: boolean;
}

/** The value of the sandbox's plugin, whose schema has checked its shape. */
export function valueOf(value: Json | undefined): CommandValue | undefined {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
  const { exit, stdout, stderr, cut } = value as JsonObject;
  if (typeof exit !== "number" || typeof stdout !== "string") return undefined;
  if (typeof stderr !== "string" || typeof cut !== "boolean") return undefined;
  return { exit, stdout, stderr, cut };
}

/** The output, then what a shell would show besides; `notes` come last, a line each. */
export function contentOf(value: CommandValue, notes: readonly string[] = []): string {
  const { exit, stdout, stderr, cut } = value;
  return [
    stdout,
    ...(stderr === "" ? [] : [`[stderr]\n${stderr}`]),
    ...(cut
      ? [
        "[cut: of the output its beginning and its end are shown; ask for less, or for more bytes and lines]",
      ]
      : []),
    ...(exit === 0 ? [] : [`[exit ${exit}]`]),
    ...notes,
  ].filter((part) => part !== "").map((part) => part.endsWith("\n") ? part : `${part}\n`).join("");
}
