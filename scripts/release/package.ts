/**
 * The contents of a release as data and text: which files of the repository it carries, and the
 * metadata for package managers. Everything derives from the repository: its files, version and
 * CHANGELOG.
 *
 * @module
 */
import { NPM_NAME, VERSION } from "../../launch/kernel/version.ts";

/**
 * Deno's version in npm's notation. bin/remit and .ci/run name the same version (test: the package
 * names the version of the program and exactly the Deno that its launcher and the checks name).
 */
export const DENO_VERSION = "2.9.6";

const SUMMARY = "Runs LLM agents as processes that hold only what they were handed";
/** Folders of the repository that no start and no build at run time reads. */
const LEFT_OUT = /^(?:\.|tests\/|bench\/|scripts\/|packaging\/|Containerfile$)|(?:^|\/)_fixture\//;
const TEST = /_test\.ts$|_endless\.ts$/;

/** Whether a release carries the file at `path` of the repository. */
export function isCarried(path: string): boolean {
  return !LEFT_OUT.test(path) && !TEST.test(path);
}

/** Returns the npm package's `package.json`. It supports the platforms of Deno's own package. */
export function packageJson(): string {
  const json = {
    name: NPM_NAME,
    version: VERSION,
    description: SUMMARY,
    license: "Apache-2.0",
    // A shell script that executes Deno: no command starts Node.
    bin: { remit: "bin/remit" },
    man: ["man/remit.1"],
    files: ["*"],
    dependencies: { deno: DENO_VERSION },
    engines: { node: ">=18" },
    os: ["linux", "darwin"],
    cpu: ["x64", "arm64"],
    // npm writes the digest of the package into its provenance.
    publishConfig: { access: "public", provenance: true },
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}

/** Returns the Debian package's `control` file. `kilobytes`: the installed size. */
export function debianControl(kilobytes: number): string {
  return [
    "Package: remit",
    // In Debian's order, "~" sorts a pre-release such as 1.0.0-rc.1 before its release.
    `Version: ${VERSION.replace("-", "~")}`,
    "Architecture: all",
    "Maintainer: The Remit authors <remit@localhost>",
    `Installed-Size: ${kilobytes}`,
    "Depends: util-linux, procps",
    `Recommends: bubblewrap, npm`,
    "Section: utils",
    "Priority: optional",
    `Description: ${SUMMARY}`,
    ` Deno ${DENO_VERSION} runs it: the one on the PATH, or the one that npx fetches.`,
    "",
  ].join("\n");
}

/**
 * Returns the section of CHANGELOG.md for `version`, or `Unreleased` where that has none yet.
 * @throws TypeError where both are missing
 */
export function releaseNotes(changelog: string, version: string = VERSION): string {
  const sections = new Map(
    changelog.split(/^## /m).slice(1).map((section) => {
      const [title = "", ...lines] = section.split("\n");
      return [title.trim().split(" ")[0] ?? "", lines.join("\n").trim()];
    }),
  );
  const found = sections.get(version) ?? sections.get("Unreleased");
  if (found === undefined) throw new TypeError(`Cannot write notes: CHANGELOG has no ${version}`);
  return `# Remit ${version}\n\n${found}\n`;
}
