/**
 * What a release is made of, as data and text: which files of the repository it carries, and what package managers read
 * beside them. Everything is derived from the repository: its files, its version, its CHANGELOG.
 *
 * @module
 */
import { NPM_NAME, VERSION } from "../../launch/kernel/version.ts";

/** Deno's version as npm names it. bin/remit and .ci/run name the same (test: the package names the version of the program and exactly the Deno that its launcher and the checks name). */
export const DENO_VERSION = "2.9.6";

const SUMMARY = "Runs LLM agents as processes that hold only what they were handed";
/** Folders of the repository that no start and no build at run time reads. */
const LEFT_OUT = /^(?:\.|tests\/|bench\/|scripts\/|packaging\/|Containerfile$)|(?:^|\/)_fixture\//;
const TEST = /_test\.ts$|_endless\.ts$/;

/** Whether a release carries the file at `path` of the repository. */
export function isCarried(path: string): boolean {
  return !LEFT_OUT.test(path) && !TEST.test(path);
}

/** The `package.json` of the npm package. What Deno's own package supports is what this one supports. */
export function packageJson(): string {
  const json = {
    name: NPM_NAME,
    version: VERSION,
    description: SUMMARY,
    license: "Apache-2.0",
    // A script of the shell that ends in Deno: nothing of Node is started at a command.
    bin: { remit: "bin/remit" },
    man: ["man/remit.1"],
    files: ["*"],
    dependencies: { deno: DENO_VERSION },
    engines: { node: ">=18" },
    os: ["linux", "darwin"],
    cpu: ["x64", "arm64"],
    // npm writes the digest of this file's tree into its provenance.
    publishConfig: { access: "public", provenance: true },
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}

/** The `control` file of the Debian package; `kilobytes` is the size when installed. */
export function debianControl(kilobytes: number): string {
  return [
    "Package: remit",
    // A version that is older than its release, as 1.0.0-rc.1, is marked so with "~".
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
 * What CHANGELOG.md says of `version`: the section of that name, or `Unreleased` where it has none yet.
 *
 * @throws TypeError where it has neither.
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
