/** bob's Remit hands alice's Remit a task; her kernel is killed while it waits for her; nothing is lost or done twice. */
import assert from "node:assert/strict";
import * as z from "zod";
import { type Machine, onMachine } from "../fake/remit.ts";
import { configure, startService } from "../fake/service.ts";
import { waitUntil } from "../fake/wait_until.ts";

const Rows = z.array(z.object({ id: z.string() }));
const Tasks = z.array(z.object({ id: z.string(), status: z.string() }));
const Listed = z.object({
  result: z.object({
    tasks: z.array(z.object({
      id: z.string(),
      status: z.object({ state: z.string() }),
      artifacts: z.array(z.object({ name: z.string() })),
      history: z.array(z.unknown()),
    })),
  }),
});

const PLAY = `
scenario: reports
turns:
  - when: { user: "report", step: 1 }
    calls: [{ tool: peer_artifact, args: { name: "report.md", text: "All is well at the north quay." } }]
  - when: { result: { tool: peer_artifact, outcome: ok } }
    say: "Here is the report."
  - say: "I have nothing to show."
`;
const ANSWERS = JSON.stringify({
  answers: [
    { tool: "a2a_desk_reports", arguments: { message: { glob: "*" }, wait: false } },
    { tool: "a2a_desk_task", arguments: { task: { glob: "*" }, do: "wait" } },
  ].map((entry) => ({ ...entry, answer: "allow", max: 9 })),
});

/** The one question that waits for alice. */
async function waiting(machine: Machine): Promise<string> {
  return await waitUntil("alice's question", async () => {
    const [row] = Rows.parse(await machine.json(["questions"]));
    return row?.id;
  });
}

/** The kernel of a machine: whoever holds its control socket. */
async function kernelOf(machine: Machine): Promise<number> {
  for (const pid of await machine.processes()) {
    const line = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
    if (/kernel[^\0]*\.js\0/.test(line)) return pid;
  }
  throw new Error("Cannot find the kernel: none runs");
}

Deno.test("a task goes from bob's kernel to alice's, which is killed in between, and its artifact comes back once (long)", async () => {
  await onMachine(async (alice) => {
    const play = await alice.write("play.yaml", PLAY);
    await configure(
      alice,
      `model: scripted:${play}
serve:
  name: Desk
  skills: [{ id: reports, name: Reports, description: "Writes reports." }]
peers:
  bob: { accept: auto, clearance: internal }
`,
    );
    const made = await alice.remit(["a2a", "token", "create", "bob"]);
    const token = made.stdout.trim();
    const first = await startService(alice);
    const at = new URL(first.url).host;
    await onMachine(async (bob) => {
      const file = await bob.write("token", made.stdout);
      const answers = ["--answers", await bob.write("answers.json", ANSWERS)];
      const added = await bob.remit([
        ...["a2a", "add", first.url, "--name", "desk", "--token-file", file, "--yes"],
      ]);
      assert.equal(added.code, 0, added.stderr);
      const send = ["a2a", "send", "desk", "Send me the report.", "--no-wait", ...answers];
      const sent = await bob.remit(send);
      assert.equal(sent.code, 0, sent.stderr);
      const [task = ""] = /x[0-9a-z]{24}/.exec(sent.stdout) ?? [];
      const before = await waiting(alice);

      Deno.kill(await kernelOf(alice), "SIGKILL");
      assert.equal(await first.ended, 1, "a service without its kernel ends, to be started again");
      assert.match(first.said(), /the kernel has ended/);
      const second = await startService(alice, [], at);
      try {
        assert.equal(second.url, first.url);
        const question = await waiting(alice);
        const answered = await alice.remit(["answer", question, "allow"]);
        assert.equal(answered.code, 0, answered.stderr);
        assert.ok(before !== "");

        const watched = await bob.remit(["a2a", "watch", "desk", task, ...answers]);
        assert.equal(watched.code, 0, watched.stderr);
        assert.match(watched.stdout, /All is well at the north quay\./);

        const tasks = Tasks.parse(await alice.json(["task", "show"]));
        assert.deepEqual(tasks.map(({ status }) => status), ["done"]);
        const { result } = Listed.parse(await list(first.url, token));
        assert.deepEqual(
          result.tasks.map(({ id, artifacts, history }) => [id, artifacts, history.length]),
          [[task, [{ name: "report.md" }], 1]],
        );
      } finally {
        second.kill("SIGTERM");
        assert.equal(await second.ended, 0, second.said());
      }
    });
  });
});

async function list(url: string, token: string): Promise<unknown> {
  const response = await fetch(`${url}/a2a`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "a2a-version": "1.0",
    },
    body: JSON.stringify({
      ...{ jsonrpc: "2.0", id: 1, method: "ListTasks" },
      params: { includeArtifacts: true },
    }),
  });
  return await response.json();
}
