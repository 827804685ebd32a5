/** Paths that a server is granted: absolute, real, and never where Remit keeps what is its own. @module */
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
import { within } from "../../../launch/disk/mounts.ts";
import { absolute, type Places } from "../../../launch/disk/places.ts";

const neverListed = makePathList(NEVER.map((glob) => ({ glob, at: "built-in" })));

/** What judging a path takes. */
export type PathPowers = Pick<RegistryPowers, "disk" | "environment" | "places">;

/** What no server may reach: state, sockets, keys, the operator's own rules, and Remit's code. */
function own(
  { state, runtime, config, cache }: Places,
  options: { readonly home: string; readonly right: "read" | "write" },
): readonly string[] {
  const secret = [state, runtime, dirname(config)];
  return options.right === "read" ? secret : [...secret, cache, options.home];
}

/**
 * A path as it is granted: `~/x` and relative ones made absolute, links resolved. It must be there: only what is can be
 * shown to a server.
 *
 * @throws Fault `notFound`; `refused` for a path that Remit's own files lie in, above or beneath; `invalidInput` for one
 * that cannot be written into a grant
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
 * The real path of a unix socket that is granted by name.
 *
 * @throws Fault `notFound`, `invalidInput` for what is no socket, `refused` for one of Remit's own
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

/** Why a real path is granted to nobody; undefined where it may be. */
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

/** Why a grant of remit.lock cannot be handed over now; undefined where it leads to what it did when it was given. */
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

// Paths in a server's arguments are made real, so that they mean the same inside its walls.

/** Words with relative paths, links and `~` made real where there is something. The program's own name stays. */
export function placeWords(powers: PathPowers, words: readonly string[]): readonly string[] {
  const { disk, environment } = powers;
  return words.map((word, n) => {
    const [path] = pathsIn([word]);
    if (n === 0 || path === undefined) return word;
    const real = disk.real(absolute(environment, path));
    return real === undefined ? word : word.slice(0, word.length - path.length) + real;
  });
}

/** The real paths that a server is told of, in arguments and variables, without its own code and what none is granted. */
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
      // What no server may be granted is not proposed; a flag that names it says why.
      if (error instanceof Fault) return [];
      throw error;
    }
  });
}

// What a server seems to need: read from its arguments, and from the accesses that observation
// refused.

/** What is proposed: nothing of it holds before a person agrees. */
export interface Proposal {
  /** Files and folders that its arguments and variables name: real paths. */
  readonly read: readonly string[];
  /** Some of its tools do not say that they only read. */
  readonly writers: boolean;
  /** Hosts that it tried to reach. */
  readonly net: readonly string[];
  /** Variables that it looked for and that nobody gave it. */
  readonly env: readonly string[];
}

/** What libraries look for without being told to. */
const PROBED =
  /^(?:__.*|CI|COLORTERM|COLUMNS|DEBUG(?:_.*)?|DENO_.*|EDITOR|FORCE_COLOR|HOME|HOSTNAME|LANG|LANGUAGE|LC_.*|LOGNAME|NODE_.*|NO_COLOR|NO_DEPRECATION|npm_.*|NPM_.*|OTEL_.*|PATH|PWD|PYTHON.*|READABLE_STREAM|SHELL|TERM.*|TMP|TEMP|TMPDIR|TRACE_DEPRECATION|TZ|UNDICI_.*|USER|USERPROFILE|XDG_.*|.*_PROXY|.*_proxy|GRACEFUL_FS_.*|TEST_.*|WS_NO_.*)$/;

const MAX = 16;

function hostOf(access: McpAccess): string | undefined {
  if (access.permission !== "net" || access.value === null) return undefined;
  const value = access.value.toLowerCase();
  const host = /:[0-9]+$/.test(value) ? value : `${value}:443`;
  return McpHost.safeParse(host).success ? host : undefined;
}

/** Tells whether `path` is one of these, or beneath one. */
export function covered(path: string, by: readonly string[]): boolean {
  return by.some((each) => path === each || each === "/" || path.startsWith(`${each}/`));
}

/** Proposes. `named` are real paths that the arguments name; `given` is what was granted already. */
export function propose(parts: {
  readonly named: readonly string[];
  readonly accesses: readonly McpAccess[];
  readonly tools: readonly McpToolWords[];
  readonly given: McpGrants;
  /** Names of variables that it is given. */
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
    ).slice(0, MAX),
    writers: parts.tools.some((tool) => tool.annotations?.readOnlyHint !== true),
    net: [...new Set(net)].slice(0, MAX),
    env: [...new Set(env)].slice(0, MAX),
  };
}

/** The paths that arguments name: absolute, `~/…`, `./…`, and behind `--flag=`. */
export function pathsIn(args: readonly string[]): readonly string[] {
  return args.map((arg) => /^--?[A-Za-z][\w-]*=(.+)$/.exec(arg)?.[1] ?? arg)
    .filter((arg) => /^(?:\/|~\/|\.\.?\/)|^(?:~|\.\.?)$/.test(arg));
}
