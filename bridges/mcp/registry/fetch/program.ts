/**
 * Launches of programs of this machine: the real path, the folder of its code, nothing else of a
 * home. Used by provide.ts and python.ts.
 * @module
 */
import { basename, dirname, join } from "node:path";
import { Fault } from "../../../../contracts/base/mod.ts";
import { McpLaunch } from "../../../../contracts/exchange/mod.ts";
import { displayText } from "../../../../text/mod.ts";
import type { RegistryPowers } from "../store/store.ts";
import type { ProvidedLaunch } from "./npm.ts";
import { whyNever } from "../paths.ts";
import type { McpWish } from "../launch.ts";
import { absolute } from "../../../../launch/disk/places.ts";

type ProgramWish = Extract<McpWish, { readonly kind: "program" }>;

/** Interpreters, which run the file that their first plain argument names. */
const INTERPRETERS = /^(?:node(?:js)?|python(?:[0-9.]*)?|bun|deno|ruby|perl|php|sh|bash)$/;
const PYTHON = /^python[0-9.]*$/;
/** System folders, which every program in a namespace sees. */
const SYSTEM_FOLDERS = /^\/(?:usr|lib|lib64|bin|sbin)(?:\/|$)/;
const SHEBANG_BYTES = 256;
const MAX_SHEBANGS = 3;

/**
 * Finds a program and the folder of its code.
 *
 * @throws Fault `notFound`; `refused` for a missing script, and for code in arguments
 */
export async function programLaunch(
  powers: RegistryPowers,
  wish: ProgramWish,
  depth = 0,
): Promise<ProvidedLaunch> {
  const { environment, store } = powers;
  const asked = wish.program.includes("/") || wish.program.startsWith("~")
    ? absolute(environment, wish.program)
    : wish.program;
  const name = basename(asked);
  const found = store.find(asked);
  if (found === undefined) {
    throw new Fault(
      "notFound",
      `Cannot find program "${
        displayText(wish.program, { max: 200 })
      }": it is not in PATH, or cannot be run`,
    );
  }
  if (PYTHON.test(name)) return await pythonLaunch(powers, wish, asked);
  const script = firstLine(powers, found.path);
  if (script !== undefined && depth < MAX_SHEBANGS && !INTERPRETERS.test(name)) {
    // The program is a script: launch the interpreter of its first line, with the script as an
    // argument.
    const inner = await programLaunch(powers, {
      kind: "program",
      program: script.program,
      args: [...script.args, found.path, ...wish.args],
    }, depth + 1);
    return inner;
  }
  const interprets = INTERPRETERS.test(name);
  const { args, folders, notes } = interprets
    ? placeScript(powers, wish.args)
    : { args: wish.args, folders: codeOf(powers, found.path), notes: [] };
  return provided({ program: found.path, sha256: found.sha256, args, folders }, notes);
}

function provided(
  launch:
    & { program: string; sha256: string; args: readonly string[]; folders: readonly string[] }
    & {
      env?: Readonly<Record<string, string>>;
    },
  notes: readonly string[],
): ProvidedLaunch {
  const parsed = McpLaunch.safeParse({
    ...launch,
    kind: "program",
    folders: [...new Set(launch.folders)].filter((folder) => !SYSTEM_FOLDERS.test(folder)),
  });
  if (!parsed.success) {
    throw new Fault(
      "refused",
      "Cannot contain it: its arguments are too many or too long, or a path of it holds a comma or a control character",
    );
  }
  return { launch: parsed.data, packages: [], notes };
}

async function pythonLaunch(
  powers: RegistryPowers,
  wish: ProgramWish,
  asked: string,
): Promise<ProvidedLaunch> {
  const python = await powers.store.python(asked);
  if (python === undefined) {
    throw new Fault("refused", `Cannot contain it: "${basename(asked)}" is no Python that works`);
  }
  const isModule = wish.args[0] === "-m";
  const { args, folders, notes } = isModule
    ? {
      args: wish.args,
      folders: [],
      notes: ["its code is what this machine's Python has installed: not pinned"],
    }
    : placeScript(powers, wish.args);
  const env = pythonEnv(python.packages);
  return provided({
    ...{ program: python.path, sha256: python.sha256, args },
    folders: [...python.folders, ...folders],
    ...(env === undefined ? {} : { env }),
  }, notes);
}

/** Replaces the script among an interpreter's arguments by its real path; finds the folder of its code. */
function placeScript(
  powers: RegistryPowers,
  args: readonly string[],
): { args: readonly string[]; folders: readonly string[]; notes: readonly string[] } {
  const { environment, disk } = powers;
  const refused = (why: string): Fault => new Fault("refused", `Cannot contain it: ${why}`);
  const at = args.findIndex((word) => !word.startsWith("-"));
  const inline = args.find((word, n) =>
    (at < 0 || n <= at) && /^(?:-c|-e|-p|--eval|--print)$/.test(word)
  );
  if (inline !== undefined) throw refused(`its code stands in its arguments (${inline})`);
  const script = args[at];
  if (script === undefined) throw refused("its interpreter is given no file");
  const file = disk.real(absolute(environment, script));
  if (file === undefined || disk.stat(file)?.folder === true) {
    throw refused(`there is no file "${displayText(script, { max: 200 })}"`);
  }
  return {
    args: args.map((word, n) => n === at ? file : word),
    folders: codeOf(powers, file),
    notes: [unpinnedNote(codeOf(powers, file)[0] ?? file)],
  };
}

/** A note that the content of a folder of code is not pinned. */
export function unpinnedNote(folder: string): string {
  const shown = displayText(folder, { max: 300 });
  return `its files beneath ${shown} are not pinned: whoever changes them changes it`;
}

/** Files that mark the root of a project. */
const PROJECT_MARKS = [
  "package.json",
  "pyproject.toml",
  "node_modules",
  "setup.py",
  "requirements.txt",
];
const MAX_CLIMB = 6;

/**
 * The folder of a file's code: its project, else the file's folder, else the file alone where that
 * folder holds other things (a home, a folder of programs, Remit's own).
 */
export function codeOf(powers: RegistryPowers, file: string): readonly string[] {
  const { environment, disk } = powers;
  const home = disk.real(environment.env("HOME") ?? "/") ?? "/";
  const fits = (folder: string): boolean =>
    !`${home}/`.startsWith(`${folder}/`) && folder !== "/" && folder !== "/tmp" &&
    !/\/s?bin$/.test(folder) && whyNever(powers, { real: folder, right: "read" }) === undefined;
  let folder = dirname(file);
  for (let n = 0; n < MAX_CLIMB && fits(folder); n++) {
    if (PROJECT_MARKS.some((name) => disk.real(join(folder, name)) !== undefined)) return [folder];
    folder = dirname(folder);
  }
  return [fits(dirname(file)) ? dirname(file) : file];
}

/** The interpreter in a script's first line; undefined for a binary. */
function firstLine(
  { disk }: Pick<RegistryPowers, "disk">,
  path: string,
): { readonly program: string; readonly args: readonly string[] } | undefined {
  const start = new TextDecoder().decode(disk.read(path)?.subarray(0, SHEBANG_BYTES));
  const [, line = ""] = /^#!\s*([^\n]*)\n/.exec(start) ?? [];
  const [program = "", ...args] = line.trim().split(/\s+/);
  if (program === "") return undefined;
  if (basename(program) !== "env") return { program, args };
  const [name = "", ...rest] = args[0] === "-S" ? args.slice(1) : args;
  return name === "" ? undefined : { program: name, args: rest };
}

/** Variables for a Python with these packages; bytecode is not written beside the code. */
export function pythonEnv(
  packages: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (packages.length === 0) return undefined;
  return { PYTHONPATH: packages.join(":"), PYTHONDONTWRITEBYTECODE: "1" };
}
