/** The start line of the relay between an agent of others and its provider: one origin, one socket. @module */
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
/** Where the relay finds the folder of its socket. */
const ROOM = "/run/agent";

/** What a relay is started around. */
export interface RelayParts {
  /** A folder of the machine, for the socket alone. */
  readonly room: string;
  readonly socketName: string;
  /** The one origin that it may reach; undefined: none. */
  readonly at: string | undefined;
}

/** The start line of a relay. The key is no part of it: it comes on standard input. */
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
