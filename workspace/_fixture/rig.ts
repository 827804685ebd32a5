/** A workspace over real temporary folders, with the gate played by the test. @module */
import type { Colour, Label } from "../../contracts/authority/colour.ts";
import { type ContentTrust, NOTHING_KNOWN } from "../../contracts/memory/content_trust.ts";
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import type { GrantedCall, PowerResult, ToolBinding } from "../../contracts/task/power.ts";
import type { PortHandler } from "../../contracts/base/port.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import { CallId, Digest, MountName, Pid, TaskId, ToolName } from "../../contracts/authority/ids.ts";
import { Fault } from "../../contracts/base/fault.ts";
import {
  HOST_SURVEY,
  type HostCallAnswer,
  type HostCallBody,
  type HostMount,
  SECOND_NAMES,
  type SetupBody,
} from "../../contracts/wire/wire_toolhost.ts";
import type { Mount } from "../../contracts/tool/workspace.ts";
import { sha256Hex } from "../../port/digest.ts";
import type { Files } from "../host/files.ts";
import { breathe, denoFiles, webSha256 } from "../host/fs_powers.ts";
import { makeHost } from "../host/host.ts";
import type { HostCallOptions } from "../host_link.ts";
import { makeWorkspace, type Workspace } from "../mod.ts";

/** The task of every call. */
export const TASK = TaskId.parse("t000000000001");
/** The never-list. */
export const NEVER = [".env*", "*.env", "*.key", "**/.ssh/**"];

/** How a rig differs from the plain one: one mount `desk`, mode `stage`. */
export interface RigOptions {
  readonly mode?: Mount["mode"];
  readonly marks?: HostMount["marks"];
  readonly files?: (real: Files) => Files;
  readonly reach?: (point: string) => void;
  readonly quota?: number;
  readonly caller?: { colour: Colour; label: Label };
  /** The clock of the host. */
  readonly now?: () => number;
  readonly contents?: ContentTrust;
  readonly colour?: Colour;
}

/** A workspace, the host behind it, and the folder of its mount. */
export interface Rig {
  readonly root: string;
  readonly desk: string;
  readonly workspace: Workspace;
  readonly sent: { tool: string; options: HostCallOptions }[];
  /** Link targets that the gate was asked about. */
  readonly also: readonly string[];
  /** The host's end of the connection. */
  readonly hostPort: PortHandler;
  /** Makes a new host, as after the old one was killed. */
  restartHost(): void;
  /** Calls the host directly, past the kernel's side. */
  host(tool: string, args: JsonObject): Promise<HostCallAnswer>;
  call(tool: string, args: JsonObject): Promise<PowerResult>;
  grant(tool: string, args: JsonObject): GrantedCall;
  binding(tool: string): ToolBinding;
  /** Undoes the newest applied patch and folds the record. */
  undo(): Promise<void>;
  put(path: string, text: string | Uint8Array): void;
  text(path: string): string | undefined;
  /** Every file of the mount with its content, sorted. */
  tree(): Readonly<Record<string, string>>;
  [Symbol.dispose](): void;
}

/** Makes a rig over a new temporary folder. */
export function makeRig(options: RigOptions = {}): Rig {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "remit-ws-" }));
  const desk = `${root}/desk`;
  for (const name of ["desk", "content", "scratch"]) Deno.mkdirSync(`${root}/${name}`);
  const mount: Mount = {
    name: MountName.parse("desk"),
    dir: desk,
    mode: options.mode ?? "stage",
    colour: options.colour ?? "YELLOW",
    label: "internal",
    marks: [...options.marks ?? []],
  };
  const files = (options.files ?? ((real) => real))(denoFiles());
  const powers = {
    files,
    sha256: webSha256,
    breathe,
    now: options.now ?? Date.now,
    ...(options.reach === undefined ? {} : { reach: options.reach }),
  };
  const setup: SetupBody = {
    mounts: [{
      name: mount.name,
      root: desk,
      mode: mount.mode,
      colour: mount.colour,
      label: mount.label,
      marks: options.marks ?? [],
    }],
    content: `${root}/content`,
    scratch: `${root}/scratch`,
    never: NEVER,
    overlay: [],
    scratchQuota: options.quota ?? 1_000_000,
  };
  let host = makeHost(powers);
  const ready = (): void => {
    host = makeHost(powers);
    host.ask("setup", setup as unknown as Json);
  };
  ready();
  const sent: Rig["sent"] = [], also: string[] = [];
  let ids = 0;
  const workspace = makeWorkspace({
    task: TASK,
    mounts: [mount],
    host: {
      async call(body, how): Promise<HostCallAnswer> {
        sent.push({ tool: body.tool, options: how });
        const ask = (given: HostCallBody): Promise<HostCallAnswer> =>
          host.ask("call", given as unknown as Json) as Promise<unknown> as Promise<HostCallAnswer>;
        try {
          return await ask(body);
        } catch (error) {
          // As the kernel does, which has another process for it.
          const mount = error instanceof Fault ? error.detail?.[SECOND_NAMES] : undefined;
          if (mount === undefined) throw error;
          const tool = HOST_SURVEY, args = { mount };
          const { value = null } = await ask({ ...body, id: `survey-${body.id}`, tool, args });
          return await ask({ ...body, args: { ...body.args, [SECOND_NAMES]: { desk: value } } });
        }
      },
    },
    powers: { now: () => 1_000, id: (prefix) => prefix + String(++ids).padStart(12, "0") },
    redeem(): void {},
    contents: options.contents ?? NOTHING_KNOWN,
    executes: (path) => path.endsWith("/package.json"),
  });
  const row = {
    mounts: [mount],
    colour: "BLUE",
    label: "public",
    ...options.caller,
  } as unknown as ProcessRow;
  const binding = (tool: string): ToolBinding => {
    const found = workspace.bindings.get(ToolName.parse(tool));
    if (found === undefined) throw new TypeError(`no tool ${tool}`);
    return found;
  };
  let calls = 0;
  const grant: Rig["grant"] = (tool, args) => ({
    task: TASK,
    pid: Pid.parse(2),
    callId: CallId.parse(`c${++calls}`),
    tool: ToolName.parse(tool),
    args,
    resolved: binding(tool).resolve(args, row),
    token: "00",
    idempotencyKey: Digest.parse(sha256Hex(`key ${calls}`)),
    deadlineMs: 100_000,
    resultBytes: 65_536,
    alsoReads(path): void {
      also.push(path);
    },
  });
  return {
    root,
    desk,
    workspace,
    sent,
    also,
    get hostPort(): PortHandler {
      return host;
    },
    restartHost: ready,
    async host(tool, args): Promise<HostCallAnswer> {
      const body = { id: `h${++calls}`, tool, args, deadlineMs: 100_000, bytes: 65_536 };
      const caller = { colour: "BLUE", label: "public" };
      const key = sha256Hex(`host ${calls}`);
      return await host.ask("call", { ...body, ...caller, key }) as unknown as HostCallAnswer;
    },
    async call(tool, args): Promise<PowerResult> {
      const call = grant(tool, args);
      const result = await binding(tool).invoke(call, new AbortController().signal);
      binding(tool).committed?.(call, result);
      return result;
    },
    grant,
    binding,
    async undo(): Promise<void> {
      const newest = workspace.applied().at(-1);
      if (newest === undefined) throw new TypeError("nothing is applied");
      const { record } = await workspace.undoCall(newest.patch).invoke({
        pid: Pid.parse(2),
        id: `u${++calls}`,
        colour: "BLUE",
        label: "public",
        deadlineMs: 100_000,
        signal: new AbortController().signal,
      });
      workspace.fold(record);
    },
    put(path, text): void {
      const full = `${desk}/${path}`;
      Deno.mkdirSync(full.slice(0, full.lastIndexOf("/")), { recursive: true });
      Deno.writeFileSync(full, typeof text === "string" ? new TextEncoder().encode(text) : text);
    },
    text(path): string | undefined {
      try {
        return Deno.readTextFileSync(`${desk}/${path}`);
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return undefined;
        throw error;
      }
    },
    tree: () => readTree(desk),
    [Symbol.dispose]: () => Deno.removeSync(root, { recursive: true }),
  };
}

function readTree(root: string): Record<string, string> {
  const tree: Record<string, string> = {};
  const visit = (folder: string, name: string): void => {
    for (const entry of Deno.readDirSync(folder)) {
      const full = `${folder}/${entry.name}`, path = name + entry.name;
      if (entry.isDirectory) {
        tree[`${path}/`] = "";
        visit(full, `${path}/`);
      } else tree[path] = entry.isFile ? Deno.readTextFileSync(full) : "(link)";
    }
  };
  visit(root, "");
  return Object.fromEntries(Object.entries(tree).sort(([a], [b]) => a < b ? -1 : 1));
}
