/** The net service as a real process, with only the permissions that it has in use. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Json } from "../../contracts/base/json.ts";
import { WIDE_FRAME_BYTES } from "../../contracts/wire/wire_plugin.ts";
import { overPipes, type PipedChild } from "../../port/_fixture/piped_child.ts";

/** Flags of `deno run` for the net service: only the net. */
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

/** A running net service, and our end of its port. */
export interface NetChild extends PipedChild {
  readonly pid: number;
}

/** As {@link NET_FLAGS}, and sockets at exactly these paths. */
function flagsWith(sockets: readonly string[]): readonly string[] {
  if (sockets.length === 0) return NET_FLAGS;
  return [
    ...NET_FLAGS.filter((flag) => flag !== "--deny-read" && flag !== "--deny-write"),
    ...[`--allow-read=${sockets.join(",")}`, `--allow-write=${sockets.join(",")}`],
  ];
}

/** Starts a bundled net service, which may listen at `sockets`; `heard` receives its events. */
export function startNet(
  file: string,
  { sockets = [], roots, heard = () => undefined }: {
    readonly sockets?: readonly string[];
    /** A file of certificates that it trusts in addition to its own. */
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
  const piped = overPipes(child, {
    limits: { frameBytes: WIDE_FRAME_BYTES },
    handler: {
      ask: () => {
        throw new Fault("refused", "Cannot serve the net service: it may ask for nothing");
      },
      tell: heard,
    },
  });
  return { ...piped, pid: child.pid };
}
