/**
 * The command lines of the browser process and of a wiki's process. The browser gets a namespace
 * without a network, and Deno in it may run one program. The user inside is not root, so that
 * Chromium's own sandbox works too. docs/decision/0010. Used by kernel/core/child/children.ts and
 * kernel/power/wiki/wiki_services.ts.
 * @module
 */
import { cacheBeside, CHILD_FLAGS } from "../../../contracts/base/built_program.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import {
  DENIED,
  denoLine,
  environment,
  filtered,
  NAMESPACE,
  namespace,
  started,
  type StartLine,
  type WallConfig,
} from "./line_parts.ts";
import type { Walls } from "./walls.ts";

/** The parts of the configuration that the line needs. */
interface BrowserLineConfig extends WallConfig {
  readonly bundles: { readonly browser: string };
  /** Chromium's executable, or Debian's launcher. */
  readonly browser: { readonly program: string };
}

const MiB = 1024 * 1024;
/** Bytes of data of each process, of any file, and of all files together: they lie in memory. */
const DATA = 4 * 1024 * MiB;
const FILE = 64 * MiB;
const FILES = 256 * MiB;
/** Chromium opens several files for each of its processes. */
const OPEN_FILES = 2_048;
const HEAP = 256;
/** Any user id but 0. */
const USER = "1000";

const { deno: DENO, denoDir: DENO_DIR } = NAMESPACE;
/** Shared libraries, and Debian's folders for Chromium. */
const SYSTEM = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];
/** Fonts and their configuration. */
const FONTS = ["/etc/fonts", "/usr/share/fonts", "/usr/share/fontconfig"];
/** Launchers are shell scripts; the namespace has no shell, so the program behind the launcher is started directly. */
const LAUNCHERS: Readonly<Record<string, string>> = {
  "/usr/bin/chromium": "/usr/lib/chromium/chromium",
};

/**
 * The start line of a browser.
 *
 * @throws Fault `unavailable` without bubblewrap: no other wall keeps a page from the network
 */
export function lineOfBrowser(config: BrowserLineConfig, walls: Walls): StartLine {
  const { deno, bwrap, setpriv, nice, prlimit } = config.programs;
  if (!walls.bwrap || !walls.filter || bwrap === undefined) {
    throw new Fault(
      "unavailable",
      "Cannot start a browser: it needs bubblewrap and seccomp, which this machine lacks (see `remit doctor`); " +
        "remit.yaml `browser: { engine: static }` reads pages without one",
    );
  }
  const chromium = LAUNCHERS[config.browser.program] ?? config.browser.program;
  const { browser: bundle } = config.bundles;
  const wall = [
    bwrap,
    // No --share-net: this wall stops every request that a page makes by itself.
    ...["--unshare-all", "--new-session", "--die-with-parent"],
    ...["--uid", USER, "--gid", USER, "--cap-drop", "ALL", "--clearenv"],
    ...["--setenv", "DENO_DIR", DENO_DIR, "--setenv", "NO_COLOR", "1"],
    ...["--setenv", "DENO_NO_UPDATE_CHECK", "1"],
    ...[...SYSTEM, ...FONTS, folderOf(chromium)].flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"],
    ...["--size", String(FILES), "--tmpfs", "/tmp"],
    ...["--ro-bind", deno, DENO],
    ...["--ro-bind", bundle, bundle],
    ...["--ro-bind-try", cacheBeside(bundle), DENO_DIR],
    ...["--remount-ro", "/", "--chdir", "/", "--"],
    ...[DENO, "run", ...CHILD_FLAGS, "--ignore-env"],
    ...[`--allow-run=${chromium}`, `--allow-read=/tmp,${chromium}`, "--allow-write=/tmp"],
    ...["--deny-net", "--deny-sys", "--deny-ffi", "--deny-import"],
    `--v8-flags=--max-old-space-size=${HEAP}`,
    ...[bundle, chromium],
  ];
  const [program = "", ...args] = [
    ...(walls.setpriv && setpriv !== undefined ? [setpriv, "--pdeathsig", "KILL", "--"] : []),
    ...(walls.nice && nice !== undefined ? [nice, "-n", "10"] : []),
    ...(walls.prlimit && prlimit !== undefined
      ? [prlimit, "--core=0", `--nofile=${OPEN_FILES}`, `--data=${DATA}`, `--fsize=${FILE}`, "--"]
      : []),
    ...filtered(config, "browser", wall),
  ];
  return { program, args, env: {} };
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/nowhere";
}

/** The folders of a wiki's process: absolute real paths. */
export interface WikiFolders {
  readonly folder: string;
  readonly stateFolder: string;
  /** Binds the wiki's folder read-only. The state folder stays writable, which SQLite needs even to read. */
  readonly readOnly: boolean;
}

/**
 * The start line of a wiki. Both folders keep their paths in the namespace, because the store compares them.
 *
 * @throws Fault `invalidInput` for a folder with a comma, which Deno reads as a separator
 */
export function lineOfWiki(
  config: WallConfig & Pick<KernelConfig, "bundles">,
  walls: Walls,
  { folder, stateFolder, readOnly }: WikiFolders,
): StartLine {
  const comma = [folder, stateFolder].find((path) => path.includes(","));
  if (comma !== undefined) {
    throw new Fault("invalidInput", `Cannot open wiki ${JSON.stringify(folder)}: it holds a comma`);
  }
  const { bwrap, deno } = config.programs, bundle = config.bundles.wiki;
  const denoDir = cacheBeside(bundle);
  const rights = [
    ...["--ignore-env", `--allow-read=${folder},${stateFolder}`],
    `--allow-write=${readOnly ? stateFolder : `${folder},${stateFolder}`}`,
    ...DENIED.filter((flag) => !["--deny-read", "--deny-write", "--deny-env"].includes(flag)),
  ];
  if (!walls.bwrap || bwrap === undefined) {
    const inner = denoLine(deno, "wiki", bundle, rights);
    return started(config, walls, "wiki", inner, environment(denoDir));
  }
  const wall = [
    ...namespace(bwrap, deno, environment(NAMESPACE.denoDir)),
    ...["--tmpfs", "/tmp"],
    ...["--ro-bind", bundle, bundle],
    ...["--ro-bind", denoDir, NAMESPACE.denoDir],
    ...[readOnly ? "--ro-bind" : "--bind", folder, folder],
    ...["--bind", stateFolder, stateFolder],
    // Deno's Node.js layer looks up its own executable, and fails where it cannot.
    ...["--symlink", NAMESPACE.deno, "/proc/self/exe"],
    ...["--remount-ro", "/", "--chdir", "/", "--"],
    ...denoLine(NAMESPACE.deno, "wiki", bundle, rights),
  ];
  const inner = filtered(config, walls.filter ? "closed" : undefined, wall);
  return started(config, { ...walls, setpriv: false }, "wiki", inner, {});
}
