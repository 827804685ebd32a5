/** The plugin hosts of all tasks: one for each process and trust group, started with the first call. docs/decision/0009. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { TaskId } from "../../../contracts/authority/mod.ts";
import { makeDeadlines, type TaskPrograms } from "../../core/process/limits.ts";
import type { Port } from "../../../contracts/base/mod.ts";
import type { PluginCallAnswer, PluginFile } from "../../../contracts/wire/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { type PluginCall, type PluginHost, type PluginHostParts, startPluginHost } from "./host.ts";

/**
 * Instances after which a host is replaced. Engines grow with instances, not with calls, and a new
 * host needs some hundred calls until its code is well compiled.
 */
const MAX_INSTANCES = 400;
/** Calls after which a host is replaced, whatever instances it reports. */
const MAX_CALLS = 5_000;

/** The plugin hosts of all tasks. */
export interface PluginHosts extends TaskPrograms {
  /**
   * Runs a call. Rejects with the plugin's fault, `timedOut`, `cancelled`, `upstream` (the process ended, or the answer
   * does not parse), `refused` (the code has changed or is not allowed), `gone` (the task ended).
   */
  call(call: PluginCall): Promise<PluginCallAnswer>;
}

interface Task {
  readonly hosts: Set<PluginHost>;
  readonly current: Map<string, Promise<PluginHost>>;
  closed: boolean;
}

/** Makes the table of plugin hosts. */
export function makePluginHosts(parts: Omit<PluginHostParts, "deadlines">): PluginHosts {
  const tasks = new Map<TaskId, Task>();
  const deadlines = makeDeadlines(parts.powers);

  const start = async (task: Task): Promise<PluginHost> => {
    const host = await startPluginHost({ ...parts, deadlines });
    if (task.closed) {
      await host.child.kill();
      throw new Fault("gone", "Cannot start a plugin host: its task has ended");
    }
    task.hosts.add(host);
    void host.child.exited.then(() => task.hosts.delete(host));
    return host;
  };

  const provide = (task: Task, key: string): Promise<PluginHost> => {
    const before = task.current.get(key);
    if (before !== undefined) return before;
    const made = start(task);
    task.current.set(key, made);
    const forget = (): void => {
      if (task.current.get(key) === made) task.current.delete(key);
    };
    made.then((host) => void host.child.port.closed.then(forget), forget);
    return made;
  };

  const run = async (task: Task, call: PluginCall): Promise<PluginCallAnswer> => {
    const group = call.trusted ? "trusted" : `plugin ${call.manifest.name}`;
    // Instances keep state, so processes share none: text read by one must not reach another.
    const key = `${call.pid} ${group} ${call.depth}`;
    const provided = provide(task, key);
    const host = await provided;
    try {
      return await host.call(call);
    } finally {
      // A worn host gets no new calls, and is killed after its last one.
      const { begun, under, instances } = host.counts();
      if (begun >= MAX_CALLS || instances >= MAX_INSTANCES) {
        if (task.current.get(key) === provided) task.current.delete(key);
        if (under === 0) void host.child.kill();
      }
    }
  };

  return Object.freeze({
    call(call: PluginCall): Promise<PluginCallAnswer> {
      const task = tasks.get(call.task) ?? { hosts: new Set(), current: new Map(), closed: false };
      tasks.set(call.task, task);
      return run(task, call);
    },
    ...{ freeze: deadlines.freeze, thaw: deadlines.thaw },
    osPids: (id: TaskId) => [...tasks.get(id)?.hosts ?? []].map(({ child }) => child.osPid),
    async close(id: TaskId): Promise<void> {
      const task = tasks.get(id);
      if (task === undefined) return;
      tasks.delete(id);
      task.closed = true;
      await Promise.allSettled([...task.current.values()]);
      await Promise.all([...task.hosts].map(({ child }) => child.kill()));
    },
  });
}

/** Reads a whole file; undefined where there is none. */
type ReadFile = (path: string) => Promise<Uint8Array | undefined>;

/** One plugin's code, or the engine's. */
export interface CodeFile {
  /** Absolute. */
  readonly file: string;
  readonly sha256: string;
  /** For messages. */
  readonly name: string;
}

/** Code by digest. */
export interface PluginCode {
  /** The bytes in base64. Throws `refused` where the bytes differ from the pinned digest, `notFound`. */
  base64(code: CodeFile): Promise<string>;
  /** The bytes as UTF-8 text. Throws like `base64`, and `refused` for invalid UTF-8. */
  text(code: CodeFile): Promise<string>;
}

/** Makes the reader of plugins' code. */
export function makePluginCode(read: ReadFile): PluginCode {
  const kept = new Map<string, Promise<string>>();

  const checked = async ({ file, sha256, name }: CodeFile): Promise<Uint8Array> => {
    const bytes = await read(file);
    if (bytes === undefined) {
      throw new Fault("notFound", `Cannot load plugin "${name}": its code is gone`);
    }
    if (sha256Hex(bytes) !== sha256) {
      throw new Fault(
        "refused",
        `Cannot load plugin "${name}": its code is not what was reviewed; ` +
          "look at it and run `remit tool add` again",
      );
    }
    return bytes;
  };
  const once = (key: string, make: () => Promise<string>): Promise<string> => {
    const before = kept.get(key);
    if (before !== undefined) return before;
    const made = make();
    kept.set(key, made);
    made.catch(() => kept.delete(key));
    return made;
  };

  return Object.freeze({
    base64: (code: CodeFile) =>
      once(`b ${code.sha256}`, async () => (await checked(code)).toBase64()),
    text: (code: CodeFile) =>
      once(`t ${code.sha256}`, async () => {
        const bytes = await checked(code);
        try {
          return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
        } catch (cause) {
          throw new Fault("refused", `Cannot load plugin "${code.name}": its script is no UTF-8`, {
            cause,
          });
        }
      }),
  });
}

/** The module that runs scripts, loaded into the hosts that need it. */
export interface Engine {
  readonly sha256: string;
  /** Sends the module to a plugin host, once. Rejects like {@link PluginCode.base64}, or with the host's fault. */
  load(host: { readonly port: Pick<Port, "ask"> }): Promise<void>;
}

/** Makes the loader of the script engine; undefined where none was built. */
export function makeEngine(code: PluginCode, built: PluginFile | undefined): Engine | undefined {
  if (built === undefined) return undefined;
  const file: CodeFile = { ...built, name: "engine" };
  const loading = new WeakMap<object, Promise<void>>();
  const begin = async (port: Pick<Port, "ask">): Promise<void> => {
    await port.ask("engine", { sha256: file.sha256, code: await code.base64(file) });
  };
  return Object.freeze({
    sha256: file.sha256,
    load({ port }: { readonly port: Pick<Port, "ask"> }): Promise<void> {
      const before = loading.get(port);
      if (before !== undefined) return before;
      const made = begin(port);
      loading.set(port, made);
      made.catch(() => loading.delete(port));
      return made;
    },
  });
}
