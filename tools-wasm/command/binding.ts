/** `command` as the gate knows it: one tool over two runners. @module */
import type { GrantedCommand } from "../../contracts/tool/command.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import type {
  GrantedCall,
  PowerResult,
  Resolved,
  ToolBinding,
} from "../../contracts/task/power.ts";
import type { Pid } from "../../contracts/authority/ids.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import type { ToolDescriptor } from "../../contracts/tool/tool.ts";
import { type CommandCall, readCall, shownWords } from "./arguments.ts";
import { commandDescriptor } from "./descriptor.ts";
import {
  contentOf,
  invokeNative,
  type NativeRan,
  type NativeRun,
  type ReadScope,
  resolveNative,
  valueOf,
} from "./native.ts";

/** Programs of the plugin `coreutils`. */
export const SANDBOX_PROGRAMS: readonly string[] = Object.freeze([
  ...["cat", "cut", "date", "find", "grep", "head", "ls"],
  ...["replace", "sha256sum", "sort", "tail", "uniq", "wc"],
]);

/** The one sandboxed program that changes files. */
const CHANGING = "replace";

/** The powers of {@link bindCommand}: a task's. */
export interface CommandParts {
  /** The plugin's own binding of `command`. */
  readonly sandbox: ToolBinding;
  /** The machine's granted programs; one hides a sandboxed program of the same name. */
  readonly classes: readonly GrantedCommand[];
  /** As reviewed, made by `commandDescriptor`. */
  readonly descriptor?: ToolDescriptor;
  readonly readScope: ReadScope;
  redeem(call: GrantedCall): void;
  /** The calling process. */
  processOf(pid: Pid): Pick<ProcessRow, "mounts"> | undefined;
  run(run: NativeRun, signal: AbortSignal): Promise<NativeRan>;
  /** Folds a run's staged changes into the workspace. */
  fold(record: JsonObject): void;
}

/** Binds `command` for a task. */
export function bindCommand(parts: CommandParts): ToolBinding {
  const { sandbox } = parts;
  const classes = new Map(parts.classes.map((command) => [String(command.name), command]));

  const resolveSandboxed = (
    args: JsonObject,
    call: CommandCall,
    caller: ProcessRow,
  ): Resolved => {
    if (!SANDBOX_PROGRAMS.includes(call.program)) {
      const names = [...classes.keys(), ...SANDBOX_PROGRAMS].join(", ");
      throw new Fault(
        "invalidArguments",
        `Cannot run ${
          shownWords([call.program])
        }: there are ${names} (the operator grants others ` +
          "in remit.yaml, commands:)",
      );
    }
    const resolved = sandbox.resolve(args, caller);
    // Without a working folder, paths begin with the name of any of the caller's mounts.
    const wide = call.cwd !== undefined
      ? []
      : caller.mounts.map(({ name }) => parts.readScope(name, caller));
    return {
      ...resolved,
      scopes: [...resolved.scopes, ...wide],
      effect: call.program === CHANGING ? resolved.effect : "read",
      summary: `run in the sandbox: ${shownWords([call.program, ...call.args])}` +
        (call.cwd === undefined ? "" : ` in ${shownWords([call.cwd])}`),
    };
  };

  return Object.freeze<ToolBinding>({
    descriptor: parts.descriptor ?? commandDescriptor(sandbox.descriptor, parts.classes),
    effect: "read",
    deadlineMs: sandbox.deadlineMs,
    keepsDeadline: true,
    resultBytes: sandbox.resultBytes,
    resolve(args, caller): Resolved {
      const call = readCall(args);
      const command = classes.get(call.program);
      if (command === undefined) return resolveSandboxed(args, call, caller);
      return resolveNative(command, call, { caller, readScope: parts.readScope });
    },
    async invoke(granted, signal): Promise<PowerResult> {
      const command = classes.get(readCall(granted.args).program);
      if (command !== undefined) {
        parts.redeem(granted);
        const caller = parts.processOf(granted.pid);
        if (caller === undefined) {
          throw new Fault("gone", `Cannot run ${command.name}: its process has ended`);
        }
        return await invokeNative(command, granted, {
          mounts: caller.mounts,
          run: (run) => parts.run(run, signal),
        });
      }
      const result = await sandbox.invoke(granted, signal);
      const value = valueOf(result.value);
      return value === undefined ? result : { ...result, content: contentOf(value) };
    },
    committed(granted, result): void {
      if (!classes.has(readCall(granted.args).program)) sandbox.committed?.(granted, result);
      else if (result.record !== undefined) parts.fold(result.record);
    },
  });
}
