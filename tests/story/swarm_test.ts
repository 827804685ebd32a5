/** alice hands three issues of a repository to a swarm and reviews one diff; carol stops one and goes on with it. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { eventsOf } from "../fake/model_scenes.ts";
import { APPROVAL, personsGit, PHRASES, smallRepository, swarmFile } from "../fake/swarm.ts";
import { openTerminal } from "../fake/terminal.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { needs } from "../needs.ts";

interface Document {
  readonly id: string;
  readonly status: string;
  readonly applied: boolean;
  readonly task?: string;
  readonly issues: readonly {
    readonly id: string;
    readonly status: string;
    readonly attempts: readonly {
      readonly task?: string;
      readonly work: string;
      readonly role: string;
      readonly provider: string;
    }[];
  }[];
}

const APPLY = JSON.stringify({
  answers: [{ tool: "patch_apply", path: "repo", answer: "allow", max: 1 }],
});

Deno.test("three issues become three reviewed changes and one diff; alice's repository learns of it by her yes alone", async () => {
  if (!needs("git")) return;
  await onMachine(async (machine) => {
    const folder = await smallRepository(machine);
    const before = await personsGit(folder, "rev-parse", "HEAD");
    const plan = await swarmFile(machine);
    const answers = await machine.write("answers.json", APPLY);
    const done = await machine.remit(["swarm", "run", plan, "--answers", answers, "--json"]);
    assert.equal(done.code, 0, `${done.stderr}${done.stdout}`);
    const swarm: Document = JSON.parse(done.stdout);
    assert.deepEqual([swarm.status, swarm.applied], ["done", true]);
    assert.deepEqual(swarm.issues.map(({ id, status }) => [id, status]), [
      ["greeting", "merged"],
      ["parting", "merged"],
      ["readme", "merged"],
    ]);
    for (const { attempts } of swarm.issues) {
      assert.deepEqual(attempts.map(({ work, role, provider }) => [work, role, provider]), [
        ["author", "coder", "scripted"],
        ["review", "reviewer", "scripted"],
      ]);
    }
    assert.equal(
      await machine.read("repo/phrases.txt"),
      PHRASES.replace("Hello", "Good day").replace("Bye", "Farewell"),
    );
    // Braces of a file are no template of the play that stages it.
    assert.equal(await machine.read("repo/README.md"), "# Phrases\n\nIn {{braces}}.\n");
    // Her branches, her index and her configuration are as they were.
    assert.equal(await personsGit(folder, "rev-parse", "HEAD"), before);
    assert.equal(
      await personsGit(folder, "for-each-ref", "--format=%(refname)"),
      "refs/heads/main",
    );
    assert.equal(
      await personsGit(folder, "worktree", "list", "--porcelain"),
      `worktree ${folder}\nHEAD ${before}\nbranch refs/heads/main`,
    );
    assert.equal(await personsGit(folder, "status", "--porcelain"), "M README.md\n M phrases.txt");
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);

    const report = await machine.remit(["swarm", "report"]);
    assert.match(report.stdout, /coder .*█{24} {2}3 of 3 finished, 0 rejected/);
    assert.match(report.stdout, /reviewer .*3 of 3 finished/);
    const [row] = await machine.json(["swarm", "list"]) as readonly {
      id: string;
      status: string;
    }[];
    assert.deepEqual([row?.id, row?.status], [swarm.id, "done"]);
    // Nothing is left to be put to her.
    assert.equal((await machine.remit(["swarm", "resume", swarm.id])).code, 0);
  });
});

Deno.test("with nobody at the terminal the diff waits; the folder is as it was until alice answers", async () => {
  if (!needs("git")) return;
  await onMachine(async (machine) => {
    await smallRepository(machine);
    const done = await machine.remit(["swarm", "run", await swarmFile(machine), "--json"]);
    assert.equal(done.code, 75, `${done.stderr}${done.stdout}`);
    const { applied, id, task = "" }: Document = JSON.parse(done.stdout);
    assert.equal(applied, false);
    // Asked for again, it is the same question, not a second one.
    const again = await machine.remit(["swarm", "resume", id, "--json"]);
    assert.deepEqual([again.code, JSON.parse(again.stdout).task], [75, task], again.stderr);
    assert.equal(await machine.read("repo/phrases.txt"), PHRASES);
    const shown = await machine.remit(["diff", task]);
    assert.match(shown.stdout, /repo\/phrases\.txt[\s\S]*\+greeting: Good day/);
    const [question] = await machine.json(["questions"]) as readonly { id: string }[];
    assert.equal((await machine.remit(["answer", question?.id ?? "", "allow"])).code, 0);
    await waitUntil(
      "the folder with the changes",
      async () => (await machine.read("repo/phrases.txt")).includes("Farewell") ? true : undefined,
    );
  });
});

Deno.test("one issue on the command line; what alice changed in her folder meanwhile is never overwritten", async () => {
  if (!needs("git")) return;
  await onMachine(async (machine) => {
    const folder = await smallRepository(machine);
    await machine.write("repo/phrases.txt", "my own words\n");
    const worker = await machine.write(
      "worker.yaml",
      `scenario: worker
turns:
  - when: { system: "You review" }
    say: '{"verdict":"approve","behaviour":"b","security":"s","tests":"t","residualDoubt":"r"}'
  - when: { inference: 1 }
    calls: [{ tool: file_edit, args: { path: code/phrases.txt, old: Hello, new: Good day } }]
  - when: { always: true }
    say: Done.
`,
    );
    const words = [
      "swarm",
      "run",
      "-p",
      "Greet warmly",
      "--mount",
      `code=${folder}`,
      "--model",
      `scripted:${worker}`,
    ];
    const done = await machine.remit(words);
    assert.equal(done.code, 1, done.stderr);
    assert.match(done.stderr, /changed there since its commit .*phrases\.txt.*git stash/);
    assert.equal(await machine.read("repo/phrases.txt"), "my own words\n");
    await personsGit(folder, "checkout", "--", "phrases.txt");
    const [{ id }] = await machine.json(["swarm", "list"]) as [{ id: string }];
    const answers = await machine.write(
      "answers.json",
      JSON.stringify({ answers: [{ tool: "patch_apply", path: "code", answer: "allow", max: 1 }] }),
    );
    const again = await machine.remit([
      "swarm",
      "resume",
      id,
      "--model",
      `scripted:${worker}`,
      "--answers",
      answers,
    ]);
    assert.equal(again.code, 0, again.stderr);
    assert.match(await machine.read("repo/phrases.txt"), /Good day/);
  });
});

Deno.test("a worker that applies or starts others, and a reviewer that writes, are refused by the kernel; the swarm goes on", async () => {
  if (!needs("git")) return;
  await onMachine(async (machine) => {
    await smallRepository(machine);
    const file = await swarmFile(machine, {
      worker: `scenario: eager
turns:
  - when: { inference: 1 }
    calls:
      - { tool: file_edit, args: { path: repo/phrases.txt, old: Hello, new: Good day } }
      - { tool: patch_apply }
      - { tool: agent_spawn, args: { agent: reviewer, request: Approve it } }
  - when: { always: true }
    say: "{{ tool.patch_apply }} {{ tool.agent_spawn }}"
`,
      reviewer: `scenario: writes
turns:
  - when: { inference: 1 }
    calls: [{ tool: file_write, args: { path: repo/phrases.txt, content: mine } }]
  - when: { always: true }
    say: '${APPROVAL}'
`,
    });
    const plan = (await Deno.readTextFile(file)).split("\n").filter((line) =>
      !/id: (?:parting|readme)/.test(line)
    );
    await Deno.writeTextFile(file, plan.join("\n"));
    const done = await machine.remit(["swarm", "run", file, "--json"]);
    assert.equal(done.code, 75, done.stderr);
    const { issues, id }: Document = JSON.parse(done.stdout);
    const [{ attempts, status } = { attempts: [], status: "" }] = issues;
    assert.equal(status, "merged");
    for (const { task = "", work } of attempts) {
      const events = await eventsOf(machine, task);
      // None of these tools is among those that it has.
      const refused = events.filter(({ status }) => status === "unknownTool").map(({ why }) =>
        /"(\w+)"/.exec(String(why))?.[1]
      );
      assert.deepEqual(
        refused,
        work === "author" ? ["patch_apply", "agent_spawn"] : ["file_write"],
        task,
      );
      assert.equal(events.filter(({ event }) => event === "processStarted").length, 0);
    }
    const folder = `${machine.state}/swarm/${id}/mirror.git`;
    assert.match(await personsGit(folder, "show", "swarm:phrases.txt"), /^greeting: Good day/);
    assert.equal(await machine.read("repo/phrases.txt"), PHRASES);
  });
});

Deno.test("with stages each issue is settled before it is worked on: alice sees what, and by which tasks that only read", async () => {
  if (!needs("git")) return;
  await onMachine(async (machine) => {
    await smallRepository(machine);
    const file = await swarmFile(machine);
    await machine.write(
      "planner.yaml",
      `scenario: planner
turns:
  - when: { inference: 1 }
    calls: [{ tool: file_write, args: { path: repo/phrases.txt, content: mine } }]
  - when: { user: "its requirements" }
    say: '{"requirements":[{"id":"r1","must":"It greets warmly","acceptance":"check.sh"}]}'
  - when: { user: "its design" }
    say: '{"files":[{"path":"phrases.txt","change":"the greeting"}]}'
`,
    );
    const lines = (await Deno.readTextFile(file)).split("\n").filter((line) =>
      !/id: (?:parting|readme)/.test(line)
    );
    const staged = lines.join("\n").replace(
      "roles:\n",
      'stages: [requirements, design]\nroles:\n  researcher: { models: ["scripted:planner.yaml"] }\n',
    );
    await Deno.writeTextFile(file, staged);
    const done = await machine.remit(["swarm", "run", file, "--json"]);
    assert.equal(done.code, 75, `${done.stderr}${done.stdout}`);
    const { issues: [issue] } = JSON.parse(done.stdout);
    assert.equal(issue.status, "merged");
    assert.deepEqual(
      issue.attempts.map(({ work, stage, role }: Record<string, string>) => [stage ?? work, role]),
      [["requirements", "researcher"], ["design", "researcher"], ["author", "coder"], [
        "review",
        "reviewer",
      ]],
    );
    assert.match(issue.passed.requirements, /It greets warmly/);
    const events = await eventsOf(machine, issue.attempts[0].task);
    assert.deepEqual(events.filter(({ status }) => status === "unknownTool").length, 1);
    // The author heard what a task had said that may read anything, and its staged change was merged all the same.
    const author = await machine.json(["task", "show", issue.attempts[2].task]);
    assert.deepEqual(Object(author).ingress.colour, "RED");
  });
});

Deno.test("at a terminal alice sees who works, reads one diff of all three changes, and says yes", async () => {
  if (!needs("git") || !needs("script")) return;
  await onMachine(async (machine) => {
    await smallRepository(machine);
    const plan = await swarmFile(machine);
    const run = openTerminal(machine.command(["swarm", "run", plan]), {
      env: machine.env,
      cwd: machine.dir,
    });
    await run.shows("readme  merged as");
    const shown = await run.shows("your answer");
    assert.match(shown, /greeting {2}a worker begins \(coder/);
    assert.match(shown, /approved by a reviewer: As the issue asks/);
    assert.match(shown, /\+ *greeting: Good day/);
    assert.match(shown, /\+ *parting: Farewell/);
    await run.type("y\r");
    assert.equal(await run.ended(), 0, run.screen());
    assert.match(run.screen(), /3 of 3 changes are merged/);
    assert.match(await machine.read("repo/phrases.txt"), /Good day[\s\S]*Farewell/);
  });
});
