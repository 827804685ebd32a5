/** The command line that one step of a fetch is run with. @module */
import type { FetchStep } from "./hands.ts";

/** Shared libraries and what finding a host and trusting it needs, where Linux distributions keep it. */
const LIBRARIES = ["/lib", "/lib64", "/usr/lib"];
const NETWORK = [
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/nsswitch.conf",
  "/etc/ssl",
  "/etc/pki",
  "/usr/share/ca-certificates",
  "/usr/local/share/ca-certificates",
];
/** Bytes of one file: no archive that is worth fetching holds a longer one. */
const FILE_BYTES = 250_000_000;

/** The walls of a step. Programs are absolute. */
export interface FetchWalls {
  readonly bwrap: string;
  readonly prlimit?: string | undefined;
}

/** Where a step finds the certificate of the caller's own network. */
const AUTHORITY = "/authority.pem";

/** A step that reaches the network, trusting whom its caller trusts by `authority`, a file. */
export function trusting(step: FetchStep, authority: string | undefined): FetchStep {
  if (!step.net || authority === undefined) return step;
  return {
    ...step,
    env: { ...step.env, DENO_CERT: AUTHORITY },
    reads: [...step.reads, { from: authority, at: AUTHORITY }],
  };
}

/**
 * A namespace that sees the step's own files, may write one folder, and has the network only if the step needs it:
 * no home, no other process, no capability.
 */
export function fetchLine(
  step: FetchStep,
  { bwrap, prlimit }: FetchWalls,
): { readonly program: string; readonly args: readonly string[] } {
  const limits = prlimit === undefined
    ? []
    : [prlimit, "--core=0", "--nofile=4096", `--fsize=${FILE_BYTES}`, "--"];
  const [program = bwrap, ...args] = [
    ...limits,
    bwrap,
    ...["--unshare-all", ...(step.net ? ["--share-net"] : [])],
    ...["--new-session", "--die-with-parent", "--cap-drop", "ALL", "--clearenv"],
    ...Object.entries(step.env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...[...LIBRARIES, ...(step.net ? NETWORK : [])].flatMap((
      path,
    ) => ["--ro-bind-try", path, path]),
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
    ...step.reads.flatMap(({ from, at }) => ["--ro-bind", from, at]),
    ...(step.writes === undefined ? [] : ["--bind", step.writes.from, step.writes.at]),
    ...["--remount-ro", "/", "--chdir", "/tmp", "--"],
    ...[step.program, ...step.args],
  ];
  return { program, args };
}
