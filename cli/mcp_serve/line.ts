/** The command line that starts a gateway: no right at all, or one listen address. Issue 6; docs/decision/0016. @module */
import type { WikiLineParts } from "../wiki/line.ts";

/** A program with its arguments and its whole environment. */
export interface ServeLine {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What a line is made of. Programs are absolute; one that does not work here is absent. */
export interface ServeLineParts extends Pick<WikiLineParts, "programs" | "bundle" | "denoDir"> {
  readonly listen: { readonly hostname: string; readonly port: number } | undefined;
  /** The kernel's: a namespace that holds Deno and nothing else, and where Deno is in it. */
  readonly namespace: (
    bwrap: string,
    deno: string,
    env: Readonly<Record<string, string>>,
    sharing?: readonly string[],
  ) => readonly string[];
  readonly inside: WikiLineParts["inside"];
}

const MiB = 1024 * 1024;
/** MiB of V8's heap. */
const HEAP = 512;
const DATA = 2_048;
const FILE = 1;
const DENIED = ["read", "write", "env", "run", "sys", "ffi", "import"].map((name) =>
  `--deny-${name}`
);

/** Makes it. */
export function serveLine(parts: ServeLineParts): ServeLine {
  const { programs, listen, bundle } = parts;
  const { bwrap, deno, setpriv, prlimit } = programs;
  const walled = bwrap !== undefined;
  const env = {
    DENO_DIR: walled ? parts.inside.denoDir : parts.denoDir,
    NO_COLOR: "1",
    DENO_NO_UPDATE_CHECK: "1",
  };
  const inner = [
    walled ? parts.inside.deno : deno,
    ...["run", "--quiet", "--no-prompt", "--no-config", "--no-lock", "--no-remote"],
    ...["--no-npm", "--cached-only", "--ignore-env"],
    // A request's signal then tells that its host has gone, and nothing else.
    "--unstable-no-legacy-abort",
    ...DENIED.filter((each) => each !== "--deny-env"),
    listen === undefined ? "--deny-net" : `--allow-net=${addressText(listen)}`,
    `--v8-flags=--max-old-space-size=${HEAP}`,
    bundle,
  ];
  const limits = prlimit === undefined ? [] : [
    ...[prlimit, "--core=0", "--nofile=4096", `--data=${DATA * MiB}`, `--fsize=${FILE * MiB}`],
    "--",
  ];
  const wall = bwrap === undefined
    ? (setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"])
    : [
      ...parts.namespace(bwrap, deno, env, listen === undefined ? [] : ["--share-net"]),
      ...["--tmpfs", "/tmp", "--ro-bind", bundle, bundle],
      ...["--ro-bind", parts.denoDir, parts.inside.denoDir],
      ...["--remount-ro", "/", "--chdir", "/", "--"],
    ];
  // Limits stand before the wall: they are inherited, and the namespace has no such program.
  const [program = deno, ...args] = [...limits, ...wall, ...inner];
  return { program, args, env: walled ? {} : env };
}

/** `host:port`, as Deno's flags and `Host` headers write it. */
export function addressText({ hostname, port }: {
  readonly hostname: string;
  readonly port: number;
}): string {
  return `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}
