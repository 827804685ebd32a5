/**
 * `deno task image [--base=DIR] [--cert=FILE] [--tag=NAME]`: builds the Containerfile with the
 * first available of docker, podman and buildah, and tests the image: `remit --version`, then the
 * service until its health check passes. Without a builder, the steps of the Containerfile run one
 * by one in a namespace (tests/story/container_test.ts).
 *
 * `--base=DIR` is for a machine without access to an image registry: a root file system (such as
 * debootstrap makes) and this Deno replace the two base images. Only buildah supports it, as root.
 * `--cert=FILE` names, by absolute path, the certificate (PEM) of a network that re-signs traffic;
 * only buildah and podman support it, and the image trusts it from then on.
 *
 * @module
 */
import { shellLine } from "../../text/shell.ts";
import { print, ROOT } from "../process.ts";

const option = (name: string): string | undefined =>
  Deno.args.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);

/** Where Debian looks for local certificate authorities. */
const AUTHORITY = "/usr/local/share/ca-certificates/network.crt";
const cert = option("cert");
const volumes = cert === undefined ? [] : ["--volume", `${cert}:${AUTHORITY}:ro`];
const TAG = option("tag") ?? "remit";
/** Attempts of the health check, one second apart. */
const ATTEMPTS = 60;

/** Runs a program with its output on this terminal, or returned where `wanted`. */
async function run(words: readonly string[], wanted = false): Promise<string> {
  const [program = "", ...args] = words;
  const done = await new Deno.Command(program, {
    ...{ args, cwd: ROOT, stdin: "null", stderr: "inherit" },
    stdout: wanted ? "piped" : "inherit",
  }).output();
  if (done.success) return wanted ? new TextDecoder().decode(done.stdout).trim() : "";
  throw new Error(`Cannot go on: "${words.slice(0, 3).join(" ")} …" ended with ${done.code}`);
}

async function isHere(program: string): Promise<boolean> {
  try {
    return (await new Deno.Command(program, { args: ["--version"], stdout: "null" }).output())
      .success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Returns a list instruction of the Containerfile as a shell command. */
async function listOf(instruction: "ENTRYPOINT" | "CMD"): Promise<string> {
  const text = await Deno.readTextFile(`${ROOT}/Containerfile`);
  const list = new RegExp(`^ *${instruction} (\\[.*\\])$`, "m").exec(text)?.[1];
  if (list === undefined) throw new Error(`Cannot start the image: it has no ${instruction}`);
  // TRUST: a file of this repository.
  return shellLine(JSON.parse(list) as string[]);
}

/** A shell script that starts the service, and ends it when its health check passes. */
async function serveScript(): Promise<string> {
  return [
    `${await listOf("ENTRYPOINT")} & served=$!`,
    `for n in $(seq ${ATTEMPTS}); do`,
    `  if ${await listOf(
      "CMD",
    )} 2>/dev/null; then kill $served; wait $served; echo healthy; exit 0; fi`,
    "  sleep 1",
    "done",
    "exit 1",
  ].join("\n");
}

/** Returns the names of both base images in the Containerfile: Deno's, then the system's. */
async function bases(): Promise<readonly string[]> {
  const text = await Deno.readTextFile(`${ROOT}/Containerfile`);
  return [...text.matchAll(/^FROM (\S+)/gm)].map(([, name = ""]) => name);
}

const BUILDAH = ["buildah", "--storage-driver", "vfs"];

async function standIns(root: string): Promise<void> {
  const [deno = "", system = ""] = await bases();
  for (
    const [name, words] of [[system, [root, "/"]], [deno, [Deno.execPath(), "/deno"]]] as const
  ) {
    const made = await run([...BUILDAH, "from", "scratch"], true);
    await run([...BUILDAH, "copy", "--quiet", made, ...words], true);
    await run([
      ...BUILDAH,
      "config",
      "--env",
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      made,
    ]);
    await run([...BUILDAH, "commit", "--quiet", "--rm", made, `localhost/${name}`], true);
    print(`${words[0]} stands for ${name}\n`);
  }
}

async function withBuildah(root: string | undefined): Promise<void> {
  if (root !== undefined) await standIns(root);
  const contexts = root === undefined ? [] : (await bases())
    .flatMap((name) => ["--build-context", `${name}=container-image://localhost/${name}`]);
  const build = [
    "build",
    // The OCI format drops the health check.
    ...["--format", "docker"],
    "--isolation",
    "chroot",
    "--ignorefile",
    ".containerignore",
    ...contexts,
    ...volumes,
  ];
  await run([...BUILDAH, ...build, "-t", TAG, "-f", "Containerfile", "."]);
  // buildah's default limit of open files is below what the service sets for its processes.
  const limit = ["--ulimit", "nofile=16384:16384"];
  const made = await run([...BUILDAH, "from", "--pull-never", ...limit, `localhost/${TAG}`], true);
  try {
    const start = [...BUILDAH, "run", "--isolation", "chroot", made, "--"];
    await run([...start, "/opt/remit/bin/remit", "--version"]);
    await run([...start, "sh", "-c", await serveScript()]);
  } finally {
    await run([...BUILDAH, "rm", made], true);
  }
}

async function withRunner(program: "podman" | "docker"): Promise<void> {
  if (program === "docker" && cert !== undefined) {
    throw new Error("Cannot use --cert: docker mounts nothing while it builds; install podman");
  }
  const format = program === "podman" ? ["--format", "docker"] : [];
  await run([program, "build", ...format, ...volumes, "-t", TAG, "-f", "Containerfile", "."]);
  const start = [program, "run", "--rm", "--entrypoint"];
  await run([...start, "/opt/remit/bin/remit", TAG, "--version"]);
  await run([...start, "sh", TAG, "-c", await serveScript()]);
}

const base = option("base");
const builder = base === undefined ? ["docker", "podman", "buildah"] : ["buildah"];
let used = "";
for (const each of builder) if (used === "" && await isHere(each)) used = each;
if (used === "buildah") await withBuildah(base);
else if (used === "podman" || used === "docker") await withRunner(used);
else {
  if (base !== undefined) throw new Error("Cannot use --base: buildah is not installed");
  print("neither docker, podman nor buildah is here: the steps are run one by one\n");
  const test = ["test", "-A", "--quiet", "tests/story/container_test.ts"];
  await run([Deno.execPath(), ...test]);
}
