/** pip within walls: the operator's settings of where packages are, and the files that these name. @module */
import { join } from "node:path";
import type { Command } from "../../command.ts";
import type { FetchStep, FoundPython } from "../store/hands.ts";

/** What pip itself reads of an environment about where packages are. */
const VARIABLES = [
  "PIP_INDEX_URL",
  "PIP_EXTRA_INDEX_URL",
  "PIP_FIND_LINKS",
  "PIP_NO_INDEX",
  "PIP_DEFAULT_TIMEOUT",
];
const CERTIFICATES = ["PIP_CERT", "SSL_CERT_FILE"];
const LONGEST = 100_000;

/** The environment and the read-only files of a step that runs pip. */
export function pipSettings(
  command: Pick<Command, "hands">,
  python: Pick<FoundPython, "folders">,
): Pick<FetchStep, "env" | "reads"> {
  const { disk, around } = command.hands;
  const text = (path: string | undefined): string | undefined => {
    const bytes = path === undefined ? undefined : disk.read(path);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes.subarray(0, LONGEST));
  };
  const home = around.env("HOME");
  const own =
    (home === undefined ? [] : [join(home, ".config/pip/pip.conf"), join(home, ".pip/pip.conf")])
      .find((path) => text(path) !== undefined);
  const shared = "/etc/pip.conf";
  const said = VARIABLES.flatMap((name) => {
    const value = around.env(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const named = [text(own), text(shared), ...said.map(([, value]) => value)].flatMap((each) =>
    localPaths(each ?? "")
  );
  const certificates = CERTIFICATES.flatMap((name) => around.env(name) ?? []).slice(0, 1);
  const reads = [
    ...["/usr", "/bin", "/sbin", ...python.folders.filter((folder) => !folder.startsWith("/usr"))],
    ...[own, shared].filter((path) => path !== undefined),
    ...named,
    ...certificates,
  ].filter((path) => disk.real(path) !== undefined);
  return {
    env: {
      ...{ HOME: "/tmp", LANG: "C.UTF-8", PYTHONDONTWRITEBYTECODE: "1" },
      ...Object.fromEntries(said),
      ...(own === undefined ? {} : { PIP_CONFIG_FILE: own }),
      ...(certificates[0] === undefined ? {} : { PIP_CERT: certificates[0] }),
    },
    reads: [...new Set(reads)].map((path) => ({ from: disk.real(path) ?? path, at: path })),
  };
}

/** Folders of this machine that an index or a list of links is in. */
function localPaths(text: string): readonly string[] {
  return [...text.matchAll(/(?:^|[\s=,])(?:file:\/\/[^/\s]*)?(\/[A-Za-z0-9._/+-]+)/g)]
    .flatMap(([, path]) => path === undefined || path.includes("..") || path === "/" ? [] : [path])
    .slice(0, 16);
}
