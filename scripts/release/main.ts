/**
 * `deno task release [npm|tarball|deb]…`: builds the published files into .build/release/, all or
 * the named kinds: the npm package, a tarball, a Debian package (where dpkg-deb exists), the notes
 * and SHA256SUMS. The same commit gives the same bytes.
 *
 * @module
 */
import { dirname, join } from "node:path";
import { NPM_NAME, VERSION } from "../../launch/kernel/version.ts";
import { COMPLETIONS } from "../../cli/setup/complete_command.ts";
import { print, ROOT } from "../process.ts";
import { manPage } from "./man.ts";
import { debianControl, isCarried, packageJson, releaseNotes } from "./package.ts";

/** The output folder; `--out=DIR` names another. */
const OUT = Deno.args.find((word) => word.startsWith("--out="))?.slice("--out=".length) ??
  join(ROOT, ".build/release");
const KINDS = ["npm", "tarball", "deb"] as const;

/** Runs a program to its end and returns its output. Throws when the program fails. */
async function run(program: string, ...args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    ...{ args: [...args], cwd: ROOT, stdin: "null" },
  }).output();
  const text = new TextDecoder();
  if (!success) throw new Error(`Cannot run ${program}: ${text.decode(stderr).trim()}`);
  return text.decode(stdout);
}

/** Copies what a release carries into `folder`, with modes independent of the umask. */
async function layOut(folder: string): Promise<void> {
  const listed = await run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard");
  for (const path of listed.split("\0").filter((each) => each !== "" && isCarried(each))) {
    const from = join(ROOT, path);
    const found = await Deno.stat(from).catch(() => undefined);
    if (found === undefined) continue;
    const to = join(folder, path);
    await Deno.mkdir(dirname(to), { recursive: true });
    await Deno.copyFile(from, to);
    await Deno.chmod(to, ((found.mode ?? 0) & 0o100) === 0 ? 0o644 : 0o755);
  }
}

/** Writes the generated files of a release: the man page and shell completions. */
async function addPages(folder: string): Promise<void> {
  const date = new Date(Number(await commitTime()) * 1_000).toISOString().slice(0, 10);
  const files = {
    "man/remit.1": manPage(date),
    ...Object.fromEntries(
      Object.entries(COMPLETIONS).map(([shell, text]) => [`completion/remit.${shell}`, text]),
    ),
  };
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
    await Deno.writeTextFile(join(folder, path), text);
  }
}

/**
 * Returns the time of the last commit in seconds; packed files get it, so that the same commit
 * gives the same bytes.
 */
async function commitTime(): Promise<string> {
  return (await run("git", "log", "-1", "--format=%ct")).trim();
}

/** Packs folder `name` of `parent` with owners, order and times independent of the machine. */
async function pack(file: string, parent: string, name: string): Promise<void> {
  const facts = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u+rwX,go=rX"];
  const time = `--mtime=@${await commitTime()}`;
  await run(
    "tar",
    ...facts,
    time,
    "--use-compress-program=gzip -9n",
    "-cf",
    file,
    "-C",
    parent,
    name,
  );
}

async function packDebian(file: string, tree: string, parent: string): Promise<void> {
  const root = join(parent, "deb");
  await Deno.mkdir(join(root, "DEBIAN"), { recursive: true });
  await Deno.mkdir(join(root, "usr/lib"), { recursive: true });
  await Deno.mkdir(join(root, "usr/bin"), { recursive: true });
  await run("cp", "-a", tree, join(root, "usr/lib/remit"));
  await Deno.symlink("../lib/remit/bin/remit", join(root, "usr/bin/remit"));
  const places = {
    "man/remit.1": "usr/share/man/man1/remit.1",
    "completion/remit.bash": "usr/share/bash-completion/completions/remit",
    "completion/remit.zsh": "usr/share/zsh/vendor-completions/_remit",
    "completion/remit.fish": "usr/share/fish/vendor_completions.d/remit.fish",
  };
  for (const [from, to] of Object.entries(places)) {
    await Deno.mkdir(dirname(join(root, to)), { recursive: true });
    await Deno.copyFile(join(tree, from), join(root, to));
  }
  const [kilobytes = ""] = (await run("du", "-sk", "--apparent-size", root)).split("\t");
  await Deno.writeTextFile(join(root, "DEBIAN/control"), debianControl(Number(kilobytes)));
  await run("chmod", "-R", "u+rwX,go=rX", root);
  await run(
    "env",
    `SOURCE_DATE_EPOCH=${await commitTime()}`,
    "dpkg-deb",
    "--root-owner-group",
    "-b",
    root,
    file,
  );
}

async function sums(files: readonly string[]): Promise<string> {
  const lines = await Promise.all(files.map(async (file) => {
    const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(join(OUT, file)));
    return `${new Uint8Array(digest).toHex()}  ${file}\n`;
  }));
  return lines.join("");
}

/** Builds the named kinds; returns the names of the files in .build/release/. */
async function release(kinds: readonly string[]): Promise<readonly string[]> {
  await Deno.remove(OUT, { recursive: true }).catch(() => undefined);
  await Deno.mkdir(OUT, { recursive: true });
  const work = await Deno.makeTempDir({ prefix: "remit-release-" });
  try {
    const files: string[] = [];
    const folder = `remit-${VERSION}`;
    await layOut(join(work, folder));
    await addPages(join(work, folder));
    if (kinds.includes("tarball")) {
      files.push(`${folder}.tar.gz`);
      await pack(join(OUT, `${folder}.tar.gz`), work, folder);
    }
    if (kinds.includes("deb")) {
      files.push(`remit_${VERSION}_all.deb`);
      await packDebian(join(OUT, `remit_${VERSION}_all.deb`), join(work, folder), work);
    }
    if (kinds.includes("npm")) {
      files.push(`${NPM_NAME}-${VERSION}.tgz`);
      // npm requires the folder name "package".
      await Deno.rename(join(work, folder), join(work, "package"));
      await Deno.writeTextFile(join(work, "package/package.json"), packageJson());
      await pack(join(OUT, `${NPM_NAME}-${VERSION}.tgz`), work, "package");
    }
    await Deno.writeTextFile(join(OUT, "SHA256SUMS"), await sums(files));
    const changelog = await Deno.readTextFile(join(ROOT, "CHANGELOG.md"));
    await Deno.writeTextFile(join(OUT, "NOTES.md"), releaseNotes(changelog));
    return [...files, "SHA256SUMS", "NOTES.md"];
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

if (import.meta.main) {
  const words = Deno.args.filter((word) => !word.startsWith("--out="));
  const asked = words.length === 0 ? KINDS : words;
  const unknown = asked.find((kind) => !(KINDS as readonly string[]).includes(kind));
  if (unknown !== undefined) {
    print(`Cannot build "${unknown}": there is ${KINDS.join(", ")}\n`);
    Deno.exit(2);
  }
  for (const file of await release(asked)) print(`${join(OUT, file)}\n`);
}
