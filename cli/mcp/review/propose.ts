/** What a server seems to need, from its arguments and from what it asked for in observation. Pure. @module */
import {
  type McpAccess,
  McpEnvName,
  type McpGrants,
  McpHost,
  type McpToolWords,
} from "../../../contracts/mod.ts";

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

const MOST = 16;

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
    ).slice(0, MOST),
    writers: parts.tools.some((tool) => tool.annotations?.readOnlyHint !== true),
    net: [...new Set(net)].slice(0, MOST),
    env: [...new Set(env)].slice(0, MOST),
  };
}

/** The paths that arguments name: absolute, `~/…`, `./…`, and behind `--flag=`. */
export function pathsIn(args: readonly string[]): readonly string[] {
  return args.map((arg) => /^--?[A-Za-z][\w-]*=(.+)$/.exec(arg)?.[1] ?? arg)
    .filter((arg) => /^(?:\/|~\/|\.\.?\/)|^(?:~|\.\.?)$/.test(arg));
}
