/** The image of the Containerfile, layer by layer where no registry of base images can be reached. */
import assert from "node:assert/strict";
import { isCarried } from "../../scripts/release/package.ts";
import { ROOT } from "../../scripts/process.ts";
import { onMachine } from "../fake/remit.ts";
import { needs } from "../needs.ts";

interface Step {
  readonly word: string;
  readonly text: string;
}

/** The instructions of a Containerfile, with continued lines joined. */
function stepsOf(text: string): readonly Step[] {
  const lines = text.split("\n").filter((line) => !line.startsWith("#")).join("\n")
    .replaceAll(/\\\n\s*/g, "").split("\n");
  return lines.filter((line) => line.trim() !== "").map((line) => {
    const [word = "", ...rest] = line.split(" ");
    return { word, text: rest.join(" ") };
  });
}

const read = (): Promise<string> => Deno.readTextFile(`${ROOT}/Containerfile`);

Deno.test("the Containerfile is what remit serve container prints, and leaves out what a release leaves out", async () => {
  await onMachine(async ({ remit }) => {
    assert.equal((await remit(["serve", "container"])).stdout, await read());
  });
  const ignored = (await Deno.readTextFile(`${ROOT}/.containerignore`)).trim().split("\n");
  for (const entry of [...Deno.readDirSync(ROOT)]) {
    const path = entry.isDirectory ? `${entry.name}/x` : entry.name;
    if (!isCarried(path)) assert(ignored.includes(entry.name), entry.name);
  }
});

Deno.test("each step of the Containerfile runs as its account, and what it built starts without a network (long)", async () => {
  if (!needs("bwrap") || !needs("setpriv") || Deno.uid() !== 0) return;
  const steps = stepsOf(await read());
  assert.deepEqual(steps.map(({ word }) => word), [
    ...[
      "FROM",
      "FROM",
      "RUN",
      "COPY",
      "COPY",
      "ENV",
      "RUN",
      "USER",
      "WORKDIR",
      "RUN",
      "VOLUME",
      "EXPOSE",
    ],
    ...["STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT"],
  ]);
  const of = (word: string, n = 0): string =>
    steps.filter((step) => step.word === word)[n]?.text ?? "";
  await onMachine(async ({ dir }) => {
    const root = `${dir}/image`;
    for (const folder of ["opt/remit", "cache", "run", "lib/remit", "bin", "etc"]) {
      await Deno.mkdir(`${root}/${folder}`, { recursive: true });
    }
    // COPY: as .containerignore leaves it.
    const ignored = (await Deno.readTextFile(`${ROOT}/.containerignore`)).trim().split("\n");
    const excludes = ignored.map((name) => `--exclude=./${name}`);
    const copied = await new Deno.Command("sh", {
      args: [
        "-c",
        'to=$1; shift; tar -c "$@" . | tar -xC "$to"',
        "sh",
        `${root}/opt/remit`,
        ...excludes,
      ],
      cwd: ROOT,
    }).output();
    assert(copied.success);
    await Deno.copyFile(Deno.realPathSync(Deno.execPath()), `${root}/bin/deno`);
    await Deno.chmod(`${root}/bin/deno`, 0o755);
    for (let path = root; path.startsWith("/tmp/"); path = path.replace(/\/[^/]+$/, "")) {
      await Deno.chmod(path, 0o755);
    }
    const network = Object.entries(Deno.env.toObject())
      .filter(([name]) =>
        /^(?:npm_config_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|https?_proxy)$/i.test(name)
      );
    const env = [...network, ["PATH", "/usr/local/bin:/usr/bin:/bin"], ["HOME", "/var/lib/remit"]];
    for (const [, name = "", value = ""] of of("ENV").matchAll(/(\w+)=(\S+)/g)) {
      env.push([name, value]);
    }
    const inside = (as: readonly string[], more: readonly string[], script: string): Deno.Command =>
      new Deno.Command("bwrap", {
        args: [
          ...[
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--proc",
            "/proc",
            "--tmpfs",
            "/tmp",
            "--chmod",
            "1777",
            "/tmp",
          ],
          ...["--bind", `${root}/opt`, "/opt", "--bind", `${root}/cache`, "/var/cache"],
          ...["--bind", `${root}/run`, "/run", "--bind", `${root}/lib`, "/var/lib"],
          ...["--bind", `${root}/bin`, "/usr/local/bin", "--clearenv", ...more],
          ...env.flatMap(([name = "", value = ""]) => ["--setenv", name, value]),
          ...["--chdir", "/", ...as, "sh", "-c", script],
        ],
        stdin: "null",
      });
    const text = new TextDecoder();
    const ran = async (command: Deno.Command): Promise<void> => {
      const { code, stdout, stderr } = await command.output();
      assert.equal(code, 0, text.decode(stdout).slice(-4_000) + text.decode(stderr).slice(-4_000));
    };
    // The account that the first RUN makes is not on this machine: nobody's number stands for it.
    const folders = of("RUN", 1).replaceAll("remit:remit", "65534:65534").replace("/etc/remit", "");
    await ran(inside([], [], folders));
    const account = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    await ran(inside(account, [], of("RUN", 2)));
    const exec = (list: string): string =>
      (JSON.parse(list) as string[]).map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    const check = exec(of("HEALTHCHECK").replace(/^.*?CMD /, ""));
    await ran(
      inside(
        account,
        ["--unshare-net"],
        [
          `${exec(of("ENTRYPOINT"))} & served=$!`,
          `for n in $(seq 60); do ${check} 2>/dev/null && kill $served && exit 0; sleep 1; done; exit 1`,
        ].join("\n"),
      ),
    );
  });
});
