/** A small repository, a plan of three issues, and scripted models for it. */
import type { Machine } from "./remit.ts";

/** Runs git as its person does, in a folder of the machine's; gives what it printed. */
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

/** The phrases that the small repository holds, far enough apart to be merged. */
export const PHRASES = "greeting: Hello\n\n# between\n\nparting: Bye\n";

/** Makes `repo` on the machine and commits it; gives its folder. */
export async function smallRepository(machine: Machine): Promise<string> {
  await machine.write("repo/phrases.txt", PHRASES);
  await machine.write("repo/README.md", "# Phrases\n");
  await machine.write(
    "repo/check.sh",
    "grep -q '^greeting: ' phrases.txt && grep -q '^parting: ' phrases.txt\n",
  );
  const folder = `${machine.dir}/repo`;
  await personsGit(folder, "init", "--quiet", "--initial-branch=main");
  await personsGit(folder, "add", "--all");
  await personsGit(folder, "commit", "--quiet", "--message=first");
  return folder;
}

/** A worker that does what each issue asks for. */
export const WORKER = `
scenario: worker
turns:
  - when: { user: "Issue greeting", inference: 1 }
    calls: [{ tool: file_edit, args: { path: repo/phrases.txt, old: Hello, new: Good day } }]
  - when: { user: "Issue parting", inference: 1 }
    calls: [{ tool: file_edit, args: { path: repo/phrases.txt, old: Bye, new: Farewell } }]
  - when: { user: "Issue readme", inference: 1 }
    calls:
      - { tool: scratch_write, args: { path: scratch/note.txt, content: mine } }
      - { tool: file_write, args: { path: repo/README.md, content: "# Phrases\\n\\nIn {{ \\"{{\\" }}braces}}.\\n" } }
  - when: { always: true }
    say: I changed what was asked.
`;

/** What a reviewer of good will says. */
export const APPROVAL = JSON.stringify({
  verdict: "approve",
  behaviour: "As the issue asks.",
  security: "Nothing new is possible.",
  tests: "check.sh holds it.",
  residualDoubt: "How it sounds.",
  findings: [],
});

/** A reviewer that reads and approves. */
export const REVIEWER = `
scenario: reviewer
turns:
  - when: { inference: 1 }
    calls: [{ tool: file_read, args: { path: repo/phrases.txt } }]
  - when: { always: true }
    say: '${APPROVAL}'
`;

/** The issues of {@link WORKER}. */
export const ISSUES = `
issues:
  - { id: greeting, title: Greet warmly, text: Good day in place of Hello. }
  - { id: parting, title: Part warmly, text: Farewell in place of Bye. }
  - { id: readme, title: Say what it is, text: The README says nothing. }
checks:
  - { name: phrases, command: [sh, check.sh] }
`;

/** Writes models and a plan; gives the plan's path. */
export async function swarmFile(
  machine: Machine,
  parts: {
    readonly worker?: string;
    readonly reviewer?: string;
    readonly plan?: string;
    readonly more?: string;
  } = {},
): Promise<string> {
  const worker = await machine.write("worker.yaml", parts.worker ?? WORKER);
  const reviewer = await machine.write("reviewer.yaml", parts.reviewer ?? REVIEWER);
  return await machine.write(
    "swarm.yaml",
    `version: 1
repository: repo
roles:
  coder: { models: ["scripted:${worker}"] }
  reviewer: { models: ["scripted:${reviewer}"] }
${parts.plan ?? ISSUES}
${parts.more ?? ""}`,
  );
}
