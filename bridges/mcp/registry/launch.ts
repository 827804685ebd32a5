/** Parses command lines of other hosts into wishes; nothing is run or looked up. @module */
import { present } from "../../../contracts/base/json.ts";
import { displayText } from "../../../text/mod.ts";

/** What a command line asks to run. */
export type McpWish =
  /** A package of an npm registry. `wanted`: a version, a range or a tag. */
  | {
    readonly kind: "npm";
    readonly package: string;
    readonly wanted: string;
    readonly bin?: string | undefined;
    readonly args: readonly string[];
  }
  /** A package of a Python index, and its program. `wanted`: a version, or empty. */
  | PythonWish
  /** What `uv run` runs: a script, or a program of a project. */
  | UvRunWish
  /** A program of this machine. */
  | { readonly kind: "program"; readonly program: string; readonly args: readonly string[] }
  | {
    readonly kind: "http";
    readonly url: string;
    /** By name in lower case; values may be secrets. */
    readonly headers: Readonly<Record<string, string>>;
  }
  /** What cannot be contained; the reason is a clause. */
  | { readonly kind: "refused"; readonly why: string };

/** Requirements of Python beside a package or a script. */
export interface PythonNeeds {
  /** Further packages in pip's syntax: `NAME`, `NAME==VERSION`. */
  readonly with?: readonly string[];
  /** The Python: a program's name or path. */
  readonly python?: string;
  /** pip's constraint files. */
  readonly constraints?: readonly string[];
}

/** See {@link McpWish}. */
export interface PythonWish extends PythonNeeds {
  readonly kind: "python";
  readonly package: string;
  readonly wanted: string;
  readonly program: string;
  readonly args: readonly string[];
}

/** See {@link McpWish}. */
export interface UvRunWish extends PythonNeeds {
  readonly kind: "uvRun";
  /** The working folder; absent: the current one. */
  readonly folder?: string;
  /** The first word is a script, whatever its ending. */
  readonly script: boolean;
  readonly args: readonly string[];
}

type Reader = (words: readonly string[]) => McpWish;

const refused = (why: string): McpWish => ({ kind: "refused", why });
const MAX_SHELLS = 3;

/** Flags before a package's name that take a value. */
const NPX_VALUES = new Set(["-p", "--package", "-c", "--call", "--registry", "-w", "--workspace"]);
const UVX_VALUES = new Set([
  ...["--from", "--with", "-w", "--python", "-p", "--index", "--index-url", "-i", "--directory"],
  ...["--extra-index-url", "--default-index", "--cache-dir", "--constraints", "--constraint", "-c"],
  ...["--spec", "--project", "--with-editable", "--with-requirements", "--overrides"],
  ...["--env-file", "--find-links", "-f", "--build-constraints", "-b", "--exclude-newer"],
]);
/** Flags that would take packages from elsewhere. */
const UV_REFUSED = [
  ...["--index", "--index-url", "-i", "--extra-index-url", "--default-index", "--find-links", "-f"],
  ...["--with-editable", "--with-requirements", "--overrides", "--env-file", "--exclude-newer"],
];

/** Parses the words of a command line, or a URL. */
export function launchOf(words: readonly string[], depth = 0): McpWish {
  const [first = "", ...rest] = words;
  if (depth > MAX_SHELLS) return refused("it starts one shell in another");
  if (words.some((word) => /[^\P{Cc}\t]/u.test(word))) {
    return refused("it holds control characters");
  }
  if (/^https?:\/\//i.test(first)) {
    return rest.length === 0 ? httpOf(first, {}) : refused("words follow the address");
  }
  const name = (first.split(/[/\\]/).at(-1) ?? "").replace(/\.(?:cmd|exe|bat)$/i, "").toLowerCase();
  const known = Object.hasOwn(READERS, name) ? READERS[name] : undefined;
  if (known !== undefined) return known(rest);
  if (name === "cmd" && /^\/[cs]$/i.test(rest[0] ?? "")) return launchOf(rest.slice(1), depth + 1);
  if (SHELLS.has(name)) return shellOf(rest, depth);
  if (first === "") return refused("there is no command");
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(first)) {
    return refused("its address is not one of http:// or https://");
  }
  return { kind: "program", program: first, args: rest };
}

const SHELLS = new Set(["sh", "bash", "zsh", "dash"]);

const READERS: Readonly<Record<string, Reader>> = {
  npx: npxOf,
  bunx: npxOf,
  pnpx: npxOf,
  npm: (words) => after(words, ["exec", "x"], npmExecOf, "npm"),
  bun: (words) => after(words, ["x"], npxOf, "bun"),
  pnpm: (words) => after(words, ["dlx"], npxOf, "pnpm"),
  yarn: (words) => after(words, ["dlx"], npxOf, "yarn"),
  deno: denoOf,
  uvx: uvxOf,
  uv: uvOf,
  pipx: (words) => after(words, ["run"], uvxOf, "pipx"),
  docker: container,
  podman: container,
  nerdctl: container,
  sudo: () => refused("it wants another user's rights"),
  env: () => refused('variables belong to the server: give them with "--env NAME=VALUE"'),
  ssh: () => refused("it runs on another machine: give its URL"),
};

function after(
  words: readonly string[],
  subs: readonly string[],
  read: Reader,
  name: string,
): McpWish {
  return subs.includes(words[0] ?? "") ? read(words.slice(1)) : refused(
    `of "${name}" only ${subs.map((sub) => `"${name} ${sub} PACKAGE"`).join(", ")} is understood`,
  );
}

function container(): McpWish {
  return refused(
    "a container is started by a service of the machine, outside of every wall of Remit; name the program that runs in it",
  );
}

function shellOf(words: readonly string[], depth: number): McpWish {
  const [flag, script, ...more] = words;
  const [file = ""] = words;
  if (flag !== undefined && /^-[a-z]*c$/.test(flag) && script !== undefined && more.length === 0) {
    const inner = splitWords(script);
    return inner === undefined
      ? refused("a shell's script is understood only if it is one plain command")
      : launchOf(inner[0] === "exec" ? inner.slice(1) : inner, depth + 1);
  }
  if (file.startsWith("-") || file === "") return refused("a shell needs a script");
  return { kind: "program", program: "sh", args: words };
}

/** Parses flags up to the first plain word; `values` names the flags that take the next word. */
function flagsOf(words: readonly string[], values: ReadonlySet<string>): {
  readonly flags: ReadonlyMap<string, string>;
  readonly rest: readonly string[];
  /** All values of repeatable flags. */
  all(...names: readonly string[]): readonly string[];
} {
  const flags = new Map<string, string>();
  const given: (readonly [string, string])[] = [];
  const all = (...names: readonly string[]): readonly string[] =>
    given.flatMap(([name, value]) => names.includes(name) ? [value] : []);
  const set = (name: string, value: string): void => {
    flags.set(name, value);
    given.push([name, value]);
  };
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") return { flags, all, rest: words.slice(at + 1) };
    if (!word.startsWith("-")) return { flags, all, rest: words.slice(at) };
    const [, flag, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    if (flag !== undefined) set(flag, value ?? "");
    else if (values.has(word)) set(word, words[++at] ?? "");
    else set(word, "");
  }
  return { flags, all, rest: [] };
}

function npxOf(words: readonly string[]): McpWish {
  const { flags, rest } = flagsOf(words, NPX_VALUES);
  if (flags.has("-c") || flags.has("--call")) {
    return refused("a shell's words within npx are not understood");
  }
  if (flags.has("--registry")) return refused("its registry belongs into ~/.npmrc");
  const from = flags.get("-p") ?? flags.get("--package");
  const [first = "", ...args] = rest;
  if (from === undefined && first === "") return refused("no package is named");
  if (from === undefined) return npmOf(first, undefined, args);
  return first === "" ? refused("npx -p names no program") : npmOf(from, first, args);
}

/** Unlike npx, npm consumes a leading `--`. */
function npmExecOf(words: readonly string[]): McpWish {
  const wish = npxOf(words);
  if (wish.kind !== "npm" || wish.args[0] !== "--") return wish;
  return { ...wish, args: wish.args.slice(1) };
}

function denoOf(words: readonly string[]): McpWish {
  const { rest } = flagsOf(
    words[0] === "run" ? words.slice(1) : words,
    new Set(["-c", "--config"]),
  );
  const [first = "", ...args] = rest;
  if (!first.startsWith("npm:")) {
    return refused('of "deno" only "deno run npm:PACKAGE" is understood');
  }
  const [, spec = "", bin] = /^npm:\/?(@[^/]+\/[^/]+|[^/]+)(?:\/(.+))?$/.exec(first) ?? [];
  return npmOf(spec, bin, args);
}

const NPM_NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
const NPM_WANTED = /^[0-9A-Za-z.^~<>=*+_-]{1,128}$/;

function npmOf(spec: string, bin: string | undefined, args: readonly string[]): McpWish {
  const [, name = "", wanted = "latest"] = /^(@?[^@]+)(?:@(.*))?$/s.exec(spec) ?? [];
  if (name.length > 214 || !NPM_NAME.test(name) || !NPM_WANTED.test(wanted)) {
    return refused(`"${displayText(spec, { max: 100 })}" is no package of a registry`);
  }
  if (name === "mcp-remote" || name === "supergateway") return remoteOf(args);
  return { kind: "npm", package: name, wanted, ...(bin === undefined ? {} : { bin }), args };
}

/** A bridge program to a URL: the URL is reached directly instead. */
function remoteOf(words: readonly string[]): McpWish {
  const url = words.find((word) => /^https?:\/\//i.test(word));
  if (url === undefined) return refused("no address is given to it");
  const headers: Record<string, string> = {};
  for (const [at, word] of words.entries()) {
    if (word !== "--header" && word !== "-H") continue;
    const [, name = "", value = ""] =
      /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*(.*)$/s.exec(words[at + 1] ?? "") ?? [];
    if (name === "") return refused("one of its headers is not NAME: VALUE");
    headers[name.toLowerCase()] = value;
  }
  return httpOf(url, headers);
}

/** A wish for a server at a URL. */
export function httpOf(text: string, headers: Readonly<Record<string, string>>): McpWish {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || text.length > 2_048) return refused("its address is none");
  if (url.username !== "" || url.password !== "") return refused("its address holds a password");
  url.hash = "";
  return { kind: "http", url: url.href, headers };
}

const PY_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?(?:\[[A-Za-z0-9,._-]{1,64}\])?$/;
const PY_VERSION = /^[0-9][0-9A-Za-z.+!-]{0,63}$/;

/** A package with version bounds, as in `--with` and in a script's list. */
const PY_NEED =
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?(?:\[[A-Za-z0-9,._-]{1,64}\])?(?: *(?:==|>=|<=|~=|!=|<|>) *[0-9][0-9A-Za-z.+!*-]{0,63}(?: *, *(?:==|>=|<=|~=|!=|<|>) *[0-9][0-9A-Za-z.+!*-]{0,63}){0,8})?$/;

/** Whether pip may get a requirement: a name and versions, no address, folder or flag. */
export function isPythonNeed(text: string): boolean {
  return PY_NEED.test(text);
}

function needsOf(
  { flags, all }: Pick<ReturnType<typeof flagsOf>, "flags" | "all">,
): PythonNeeds | { readonly kind: "refused"; readonly why: string } {
  const other = UV_REFUSED.find((flag) => flags.has(flag));
  if (other !== undefined) return { kind: "refused", why: `"${other}" is not understood` };
  const more = all("--with", "-w").flatMap((each) => each.split(/,(?![^[]*\])(?= *[A-Za-z])/))
    .map((each) => each.trim().replace(/@(?=[0-9])/, "=="));
  const wrong = more.find((each) => !isPythonNeed(each));
  if (wrong !== undefined) {
    const shown = displayText(wrong, { max: 100 });
    return { kind: "refused", why: `"${shown}" is no package of an index` };
  }
  const constraints = all("--constraints", "--constraint", "-c");
  return present<PythonNeeds>({
    with: more.length === 0 ? undefined : more,
    // `3.12`, `cpython3.12`, `python3.12`, or a path.
    python: (flags.get("--python") ?? flags.get("-p"))?.replace(
      /^(?:cpython@?)?(?=[0-9])/,
      "python",
    ),
    constraints: constraints.length === 0 ? undefined : constraints,
  });
}

function uvxOf(words: readonly string[]): McpWish {
  const read = flagsOf(words, UVX_VALUES), { flags, rest } = read;
  const needs = needsOf(read);
  if ("kind" in needs) return needs;
  if (flags.has("--directory")) return refused('"--directory" is not understood');
  const [first = "", ...args] = rest;
  const spec = flags.get("--from") ?? flags.get("--spec") ?? first;
  const [, name = "", wanted = ""] = /^([^@=]+)(?:@|==)?(.*)$/s.exec(spec) ?? [];
  const version = wanted === "latest" ? "" : wanted;
  if (!PY_NAME.test(name) || (version !== "" && !PY_VERSION.test(version))) {
    return refused(`"${displayText(spec, { max: 100 })}" is no package of an index`);
  }
  // In `uvx PACKAGE@VERSION` the program is named like the package.
  const program = spec === first ? name.replace(/\[.*$/, "") : first;
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(program)) return refused("it names no program");
  return { kind: "python", package: name, wanted: version, program, args, ...needs };
}

const UV_PROJECT = new Set([...UVX_VALUES, "--extra", "--group", "--package"]);

function uvOf(words: readonly string[]): McpWish {
  const before = flagsOf(words, UV_PROJECT);
  const [verb, ...after] = before.rest;
  if (verb === "tool" && after[0] === "run") {
    return uvxOf([...words.slice(0, words.length - before.rest.length), ...after.slice(1)]);
  }
  if (verb !== "run") {
    return refused(
      'of "uv" only "uv run" and "uv tool run" are understood; or name a package: uvx PACKAGE',
    );
  }
  const read = flagsOf(after, UV_PROJECT), { flags, rest } = read;
  const needs = needsOf({
    flags: new Map([...before.flags, ...flags]),
    all: (...names) => [...before.all(...names), ...read.all(...names)],
  });
  if ("kind" in needs) return needs;
  const isModule = flags.has("-m") || flags.has("--module");
  const [folder] = ["--directory", "--project"].flatMap((name) =>
    flags.get(name) ?? before.flags.get(name) ?? []
  );
  if (rest.length === 0) return refused("it names nothing to run");
  return {
    ...{ kind: "uvRun", script: flags.has("--script") || flags.has("-s"), ...needs },
    args: isModule ? ["python", "-m", ...rest] : rest,
    ...(folder === undefined ? {} : { folder }),
  };
}

/** Characters that a shell would interpret. */
const SPECIAL = /[$`;&|<>(){}*?[\]~!#\\\n]/;

/**
 * Splits a command line as a shell would; undefined where a shell would do more than split.
 *
 * @example
 * ```ts
 * import { splitWords } from "./launch.ts";
 * if (splitWords("npx -y 'a b'")?.length !== 3) throw new Error("not split");
 * if (splitWords("npx $A") !== undefined) throw new Error("a shell would expand that");
 * ```
 */
export function splitWords(script: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < script.length; at++) {
    const letter = script.charAt(at);
    if (letter === "'" || letter === '"') {
      const end = script.indexOf(letter, at + 1);
      const inner = script.slice(at + 1, end);
      if (end < 0 || (letter === '"' && /[$`\\!]/.test(inner))) return undefined;
      word = (word ?? "") + inner;
      at = end;
    } else if (letter === " " || letter === "\t") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (SPECIAL.test(letter)) return undefined;
    else word = (word ?? "") + letter;
  }
  if (word !== undefined) words.push(word);
  // `NAME=VALUE command` sets a variable.
  return words.length === 0 || /^[A-Za-z_][A-Za-z0-9_]*=/.test(words[0] ?? "") ? undefined : words;
}
