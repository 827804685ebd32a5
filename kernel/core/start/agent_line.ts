/**
 * The start line of the relay between a foreign agent and its provider: one origin, one socket.
 * Used by kernel/power/agent/relay.ts.
 * @module
 */
import { CHILD_FLAGS } from "../../../contracts/base/built_program.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import { started } from "./command_line.ts";
import {
  environment,
  filtered,
  NAMESPACE,
  namespace,
  type StartLine,
  type WallConfig,
} from "./line_parts.ts";
import { NAMES } from "./model_line.ts";

const MiB = 1024 * 1024;
/** The folder of the relay's socket inside its namespace. */
const ROOM = "/run/agent";

/** A relay's socket and destination. */
export interface RelayParts {
  /** A folder of the machine, for the socket alone. */
  readonly room: string;
  readonly socketName: string;
  /** The only origin that the relay may reach; undefined: none. */
  readonly at: string | undefined;
}

/** The start line of a relay. The provider's key arrives on standard input instead. */
export function lineOfAgentRelay(
  config: WallConfig & Pick<KernelConfig, "bundles">,
  { room, socketName, at }: RelayParts,
): StartLine {
  const { bwrap = "", deno } = config.programs;
  const { agentRelay: bundle } = config.bundles;
  const socket = `${ROOM}/${socketName}`;
  const url = at === undefined ? undefined : new URL(at);
  const port = url?.port || (url?.protocol === "https:" ? "443" : "80");
  const reached = url === undefined ? "" : `${url.hostname}:${port},`;
  const wall = filtered(config, "holder", [
    ...namespace(
      bwrap,
      deno,
      environment(NAMESPACE.denoDir),
      at === undefined ? [] : ["--share-net"],
    ),
    ...["--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", NAMESPACE.denoDir],
    ...["--ro-bind", bundle, bundle, "--bind", room, ROOM],
    ...["/etc/ssl/certs", "/etc/ca-certificates", ...NAMES]
      .flatMap((file) => ["--ro-bind-try", file, file]),
    ...["--remount-ro", "/", "--chdir", "/", "--"],
    ...[NAMESPACE.deno, "run", ...CHILD_FLAGS, "--ignore-env"],
    ...[`--allow-net=${reached}unix:${socket}`],
    ...[`--allow-read=${ROOM}`, `--allow-write=${ROOM}`],
    ...["--deny-run", "--deny-sys", "--deny-ffi", "--deny-import"],
    ...["--v8-flags=--max-old-space-size=256", bundle, socket],
  ]);
  return started(config.programs, { data: 1_024 * MiB, file: MiB, files: 512 }, wall);
}
