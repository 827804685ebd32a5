/** Paths for grants: absolute, without links, and never Remit's own; and proposals of grants. @module */
import { basename, dirname, join } from "node:path";
import { Fault } from "../../../contracts/base/mod.ts";
import {
  type McpAccess,
  McpEnvName,
  McpGrants,
  McpHost,
  type McpLaunch,
  McpSocket,
  type McpToolWords,
} from "../../../contracts/exchange/mod.ts";
import { makePathList, NEVER } from "../../../text/path_list.ts";
import type { RegistryPowers } from "./store/store.ts";
import { absolute, type Places, within } from "../../../launch/disk/places.ts";

const neverListed = makePathList(NEVER.map((glob) => ({ glob, at: "built-in" })));

/** The powers that judging a path needs. */
export type PathPowers = Pick<RegistryPowers, "disk" | "environment" | "places">;

/** Folders that no server may reach: state, sockets, keys, the operator's rules, Remit's code. */
function own(
  { state, runtime, config, cache }: Places,
  options: { readonly home: string; readonly right: "read" | "write" },
): readonly string[] {
  const secret = [state, runtime, dirname(config)];
  return options.right === "read" ? secret : [...secret, cache, options.home];
}

/**
 * Resolves a path for a grant: absolute, links followed. It must exist, since only an existing path
 * can be bound into a server's namespace.
 *
 * @throws Fault `notFound`; `refused` for a path in, above or beneath Remit's own files;
 * `invalidInput` for one that a grant cannot hold
 */
export function resolveGrant(
  powers: PathPowers,
  text: string,
  right: "read" | "write" = "write",
): string {
  const { environment, disk } = powers;
  const asked = absolute(environment, text);
  const folder = disk.real(dirname(asked));
  const real = disk.real(asked);
  const meant = real ?? (folder === undefined ? undefined : join(folder, basename(asked)));
  const why = meant === undefined ? undefined : whyNever(powers, { real: meant, right });
  if (why !== undefined) throw new Fault("refused", `Cannot grant "${text}": ${why}`);
  if (real === undefined) {
    throw new Fault(
      "notFound",
      `Cannot grant "${text}": there is no such file or folder; make it first, or grant a folder around it (--write FILE and --write DIR/ make it where its folder is)`,
    );
  }
  const { folder: isFolder, plain: isFile } = disk.stat(real) ?? { folder: true, plain: false };
  if (!isFolder && !isFile) {
    throw new Fault(
      "refused",
      `Cannot grant "${text}": it is no file or folder; a unix socket is granted by --socket PATH`,
    );
  }
  if (!McpGrants.shape.read.element.safeParse(real).success) {
    throw new Fault(
      "invalidInput",
      `Cannot grant "${text}": its path holds a comma or a control character, or is too long`,
    );
  }
  return real;
}

/**
 * Resolves the path of a unix socket for a grant.
 *
 * @throws Fault `notFound`, `invalidInput` for any other file, `refused` for one of Remit's own
 */
export function resolveSocket(powers: PathPowers, text: string): string {
  const { environment, disk } = powers;
  const real = disk.real(absolute(environment, text));
  if (real === undefined) {
    throw new Fault("notFound", `Cannot grant socket "${text}": there is none; start its program`);
  }
  const why = whyNever(powers, { real, right: "read" });
  if (why !== undefined) throw new Fault("refused", `Cannot grant socket "${text}": ${why}`);
  if (disk.stat(real)?.socket === true && McpSocket.safeParse(`unix:${real}`).success) return real;
  throw new Fault("invalidInput", `Cannot grant socket "${text}": it is no unix socket`);
}

/** Why nobody may get a real path; undefined where it may be granted. */
export function whyNever(
  { environment, disk, places }: PathPowers,
  { real, right }: { readonly real: string; readonly right: "read" | "write" },
): string | undefined {
  if (real === "/") return "that is the whole machine";
  const listed = neverListed.find(real.slice(1));
  if (listed !== undefined) {
    return `it is on the never-list (${listed.glob}), which no server and no tool reads`;
  }
  const kept = own(places, { home: environment.home, right }).map((path) => disk.real(path) ?? path)
    .find((path) => within(real, path) || within(path, real));
  if (kept === undefined) return undefined;
  return `${within(real, kept) ? "it lies in" : "it holds"} what is Remit's own (${kept})`;
}

/** Why a grant of remit.lock is unusable now; undefined where its path still leads to the same place. */
export function whyMoved(
  powers: PathPowers,
  path: string,
  right: "read" | "write",
): string | undefined {
  const { disk } = powers;
  const real = disk.real(path);
  if (real === undefined) return `"${path}" is not there`;
  return real === path ? whyNever(powers, { real, right }) : `"${path}" leads to another place now`;
}

/**
 * Replaces existing paths in a command's arguments by real ones, which mean the same inside a
 * namespace. The program's own name stays.
 */
export function placeWords(powers: PathPowers, words: readonly string[]): readonly string[] {
  const { disk, environment } = powers;
  return words.map((word, n) => {
    const [path] = pathsIn([word]);
    if (n === 0 || path === undefined) return word;
    const real = disk.real(absolute(environment, path));
    return real === undefined ? word : word.slice(0, word.length - path.length) + real;
  });
}

/** Real paths in a server's arguments and variables, except its own code and paths that nobody may get. */
export function namedPaths(
  powers: PathPowers,
  { launch, env }: {
    readonly launch: Exclude<McpLaunch, { readonly kind: "http" }>;
    readonly env: Readonly<Record<string, string>>;
  },
): readonly string[] {
  const { disk } = powers;
  const own = launch.kind === "program" ? [launch.program, ...launch.folders] : [];
  return pathsIn([...launch.args, ...Object.values(env)]).flatMap((path) => {
    const real = disk.real(path);
    if (real === undefined || covered(real, own)) return [];
    try {
      return [resolveGrant(powers, real)];
    } catch (error) {
      // A path that nobody may get is not proposed; a flag that names it explains why.
      if (error instanceof Fault) return [];
      throw error;
    }
  });
}

/**
 * Grants that a server seems to need, by its arguments and its refused accesses. Nothing is granted
 * before a person agrees.
 */
export interface Proposal {
  /** Real paths in its arguments and variables. */
  readonly read: readonly string[];
  /** Whether some of its tools do not declare that they only read. */
  readonly writers: boolean;
  /** Hosts that it tried to reach. */
  readonly net: readonly string[];
  /** Variables that it read and that nobody gave it. */
  readonly env: readonly string[];
}

/** Variables that libraries probe by themselves. */
const PROBED =
  /^(?:__.*|CI|COLORTERM|COLUMNS|DEBUG(?:_.*)?|DENO_.*|EDITOR|FORCE_COLOR|HOME|HOSTNAME|LANG|LANGUAGE|LC_.*|LOGNAME|NODE_.*|NO_COLOR|NO_DEPRECATION|npm_.*|NPM_.*|OTEL_.*|PATH|PWD|PYTHON.*|READABLE_STREAM|SHELL|TERM.*|TMP|TEMP|TMPDIR|TRACE_DEPRECATION|TZ|UNDICI_.*|USER|USERPROFILE|XDG_.*|.*_PROXY|.*_proxy|GRACEFUL_FS_.*|TEST_.*|WS_NO_.*)$/;

const MAX_PROPOSED = 16;

function hostOf(access: McpAccess): string | undefined {
  if (access.permission !== "net" || access.value === null) return undefined;
  const value = access.value.toLowerCase();
  const host = /:[0-9]+$/.test(value) ? value : `${value}:443`;
  return McpHost.safeParse(host).success ? host : undefined;
}

/** Whether `path` is one of these, or beneath one. */
export function covered(path: string, by: readonly string[]): boolean {
  return by.some((each) => path === each || each === "/" || path.startsWith(`${each}/`));
}

/** Proposes grants. `named`: real paths in the arguments; `given`: existing grants. */
export function propose(parts: {
  readonly named: readonly string[];
  readonly accesses: readonly McpAccess[];
  readonly tools: readonly McpToolWords[];
  readonly given: McpGrants;
  /** Names of the server's variables. */
  readonly env: readonly string[];
}): Proposal {
  const { given, accesses } = parts;
  const net = accesses.flatMap((each) => hostOf(each) ?? [])
    .filter((host) => !given.net.includes(host));
  const env = accesses.flatMap(({ permission, value }) =>
    permission === "env" && value !== null && !PROBED.test(value) &&
      McpEnvName.safeParse(value).success && !parts.env.includes(value)
      ? [value]
      : []
  );
  return {
    read: [...new Set(parts.named)].filter((path) =>
      !covered(path, [...given.read, ...given.write])
    ).slice(0, MAX_PROPOSED),
    writers: parts.tools.some((tool) => tool.annotations?.readOnlyHint !== true),
    net: [...new Set(net)].slice(0, MAX_PROPOSED),
    env: [...new Set(env)].slice(0, MAX_PROPOSED),
  };
}

/** Paths among arguments: absolute, `~/…`, `./…`, and after `--flag=`. */
export function pathsIn(args: readonly string[]): readonly string[] {
  return args.map((arg) => /^--?[A-Za-z][\w-]*=(.+)$/.exec(arg)?.[1] ?? arg)
    .filter((arg) => /^(?:\/|~\/|\.\.?\/)|^(?:~|\.\.?)$/.test(arg));
}
