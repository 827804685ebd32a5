/** The net service as a real process with the permission that it has, and no other. @module */
import { Fault } from "../../contracts/fault.ts";
import type { Json } from "../../contracts/json.ts";
import { WIDE_FRAME_BYTES } from "../../contracts/wire_plugin.ts";
import { makePort, type Port } from "../../port/mod.ts";

/** What `deno run` is told for the net service: nothing but the net. */
const NET_FLAGS: readonly string[] = [
  "--quiet",
  "--no-prompt",
  "--no-config",
  "--no-lock",
  "--no-remote",
  "--no-npm",
  "--cached-only",
  "--ignore-env",
  "--allow-net",
  "--deny-read",
  "--deny-write",
  "--deny-run",
  "--deny-sys",
  "--deny-ffi",
  "--deny-import",
];

/** A net service that runs, and our end of its port. */
export interface NetChild extends AsyncDisposable {
  readonly port: Port;
  readonly pid: number;
  /** Ends its input, as a kernel that is gone does; resolves with its exit code. */
  hangUp(): Promise<number>;
}

/** As {@link NET_FLAGS}, and sockets at exactly these paths. */
function flagsWith(sockets: readonly string[]): readonly string[] {
  if (sockets.length === 0) return NET_FLAGS;
  return [
    ...NET_FLAGS.filter((flag) => flag !== "--deny-read" && flag !== "--deny-write"),
    ...[`--allow-read=${sockets.join(",")}`, `--allow-write=${sockets.join(",")}`],
  ];
}

/** Starts a bundled net service, which may listen at `sockets`; `heard` is told its events. */
export function startNet(
  file: string,
  { sockets = [], roots, heard = () => undefined }: {
    readonly sockets?: readonly string[];
    /** A file of certificates that it trusts beside its own. */
    readonly roots?: string;
    readonly heard?: (op: string, body: Json) => void;
  } = {},
): NetChild {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...flagsWith(sockets), ...(roots === undefined ? [] : [`--cert=${roots}`]), file],
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const input = child.stdin.getWriter();
  const port = makePort({
    limits: { frameBytes: WIDE_FRAME_BYTES },
    handler: {
      ask: () => {
        throw new Fault("refused", "Cannot serve the net service: it may ask for nothing");
      },
      tell: heard,
    },
    write: (bytes) => {
      input.write(bytes.slice()).catch(() => port.close("the child takes no input"));
    },
  });
  const pumped = (async () => {
    for await (const bytes of child.stdout) port.feed(bytes);
    port.close("the child ended");
  })();
  const ended = async (): Promise<number> => {
    await pumped;
    return (await child.status).code;
  };
  return {
    port,
    pid: child.pid,
    async hangUp(): Promise<number> {
      await input.close();
      return await ended();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await input.close().catch(() => undefined);
      await ended();
    },
  };
}
