/** The example's small repository and its plan of three issues, on a machine of a test. */
import type { Machine } from "./remit.ts";

const EXAMPLE = new URL("../../examples/swarm/", import.meta.url).pathname;
const shipped = (name: string): string => Deno.readTextFileSync(`${EXAMPLE}${name}`);

/** Runs git as its person does, in a folder of the machine; gives its output. */
export async function personsGit(folder: string, ...args: readonly string[]): Promise<string> {
  const done = await new Deno.Command("git", {
    args: ["-c", "user.name=alice", "-c", "user.email=alice@localhost", ...args],
    cwd: folder,
    clearEnv: true,
    env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" },
    ...{ stdout: "piped", stderr: "piped" },
  }).output();
  const said = new TextDecoder().decode(done.stdout);
  if (!done.success) {
    throw new Error(`git ${args.join(" ")}: ${new TextDecoder().decode(done.stderr)}`);
  }
  return said.trim();
}

/** The phrases of the small repository, far enough apart to be merged. */
export const PHRASES = shipped("repo/phrases.txt");
/** A worker that does what each issue requests. */
export const WORKER = shipped("worker.yaml");
/** The answer of an honest reviewer. */
export const APPROVAL = JSON.stringify({
  verdict: "approve",
  behaviour: "As the issue asks.",
  security: "Nothing new is possible.",
  tests: "check.sh holds it.",
  residualDoubt: "How it sounds.",
  findings: [],
});

/** Makes `repo` on the machine and commits it; gives its folder. */
export async function smallRepository(machine: Machine): Promise<string> {
  for (const name of ["phrases.txt", "README.md", "check.sh"]) {
    await machine.write(`repo/${name}`, shipped(`repo/${name}`));
  }
  const folder = `${machine.dir}/repo`;
  await personsGit(folder, "init", "--quiet", "--initial-branch=main");
  await personsGit(folder, "add", "--all");
  await personsGit(folder, "commit", "--quiet", "--message=first");
  return folder;
}

/** Writes the example's plan and models beside the repository; gives the plan's path. */
export async function swarmFile(
  machine: Machine,
  parts: { readonly worker?: string; readonly reviewer?: string; readonly limits?: string } = {},
): Promise<string> {
  await machine.write("worker.yaml", parts.worker ?? WORKER);
  await machine.write("reviewer.yaml", parts.reviewer ?? shipped("reviewer.yaml"));
  const plan = shipped("swarm.yaml");
  return await machine.write(
    "swarm.yaml",
    parts.limits === undefined ? plan : plan.replace(/^limits: .*$/m, `limits: ${parts.limits}`),
  );
}
