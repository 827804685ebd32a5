/** A command line as people write it for other hosts → what it asks for. Nothing is run or looked at. Issue 6. @module */
import { displayText } from "../../../text/mod.ts";
import { splitWords } from "./words.ts";

/** What a command line asks for. */
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
  | {
    readonly kind: "python";
    readonly package: string;
    readonly wanted: string;
    readonly program: string;
    readonly args: readonly string[];
  }
  /** A program of this machine. */
  | { readonly kind: "program"; readonly program: string; readonly args: readonly string[] }
  | {
    readonly kind: "http";
    readonly url: string;
    /** By name in lower case; values may be secrets. */
    readonly headers: Readonly<Record<string, string>>;
  }
  /** What cannot be contained, and why: a clause. */
  | { readonly kind: "refused"; readonly why: string };

type Reader = (words: readonly string[]) => McpWish;

const refused = (why: string): McpWish => ({ kind: "refused", why });
const DEPTH = 3;

/** Flags before a package's name, by whether a value follows. */
const NPX_VALUES = new Set(["-p", "--package", "-c", "--call", "--registry", "-w", "--workspace"]);
const UVX_VALUES = new Set([
  ...["--from", "--with", "-w", "--python", "-p", "--index", "--index-url", "-i", "--directory"],
  ...["--extra-index-url", "--default-index", "--cache-dir", "--constraint", "-c", "--spec"],
]);

/** Reads the words of a command line, or one URL. */
export function launchOf(words: readonly string[], depth = 0): McpWish {
  const [first = "", ...rest] = words;
  if (depth > DEPTH) return refused("it starts one shell in another");
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
  uv: (words) =>
    words[0] === "tool" && words[1] === "run" ? uvxOf(words.slice(2)) : refused(
      '"uv" builds a project before it runs it; name a package (uvx PACKAGE), or the program itself',
    ),
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

/** Flags up to the first plain word. `values` names the flags whose value is a word of its own. */
function flagsOf(
  words: readonly string[],
  values: ReadonlySet<string>,
): { readonly flags: ReadonlyMap<string, string>; readonly rest: readonly string[] } {
  const flags = new Map<string, string>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") return { flags, rest: words.slice(at + 1) };
    if (!word.startsWith("-")) return { flags, rest: words.slice(at) };
    const [, flag, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    if (flag !== undefined) flags.set(flag, value ?? "");
    else if (values.has(word)) flags.set(word, words[++at] ?? "");
    else flags.set(word, "");
  }
  return { flags, rest: [] };
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

/** Unlike npx, npm takes a `--` for itself, wherever it stands. */
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

/** A bridge to a URL: its program is not needed, what it leads to is reached directly. */
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

/** A server at an address. */
export function httpOf(text: string, headers: Readonly<Record<string, string>>): McpWish {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || text.length > 2_048) return refused("its address is none");
  if (url.username !== "" || url.password !== "") return refused("its address holds a password");
  url.hash = "";
  return { kind: "http", url: url.href, headers };
}

const PY_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?(?:\[[A-Za-z0-9,._-]{1,64}\])?$/;
const PY_VERSION = /^[0-9][0-9A-Za-z.+!-]{0,63}$/;

function uvxOf(words: readonly string[]): McpWish {
  const { flags, rest } = flagsOf(words, UVX_VALUES);
  const other = [
    "--with",
    "-w",
    "--index",
    "--index-url",
    "-i",
    "--extra-index-url",
    "--default-index",
    "--directory",
  ]
    .find((flag) => flags.has(flag));
  if (other !== undefined) return refused(`"${other}" is not understood`);
  const [first = "", ...args] = rest;
  const spec = flags.get("--from") ?? flags.get("--spec") ?? first;
  const [, name = "", wanted = ""] = /^([^@=]+)(?:@|==)?(.*)$/s.exec(spec) ?? [];
  const version = wanted === "latest" ? "" : wanted;
  if (!PY_NAME.test(name) || (version !== "" && !PY_VERSION.test(version))) {
    return refused(`"${displayText(spec, { max: 100 })}" is no package of an index`);
  }
  // Of `uvx PACKAGE@VERSION` the program is the package's name.
  const program = spec === first ? name.replace(/\[.*$/, "") : first;
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(program)) return refused("it names no program");
  return { kind: "python", package: name, wanted: version, program, args };
}
