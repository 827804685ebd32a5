/**
 * bob's task has read what is internal, and hands it to alice's Remit, which he trusts with that. To her it would have
 * been public, and so would her answer have been to him. A peer that he does not trust so hears nothing of it.
 */
import assert from "node:assert/strict";
import * as z from "zod";
import { type Machine, onMachine } from "../../fake/remit.ts";
import { playing } from "../../fake/scenes.ts";
import { configure, startService } from "../../fake/service.ts";

const Tasks = z.array(z.object({ label: z.string(), colour: z.string() }));
const Told = z.object({
  result: z.object({
    tasks: z.array(z.object({
      status: z.object({
        message: z.object({ metadata: z.record(z.string(), z.string()).optional() }).optional(),
      }),
      artifacts: z.array(
        z.object({ metadata: z.record(z.string(), z.string()).optional() }),
      ).optional(),
    })),
  }),
});

const REPORTS = `
scenario: reports
turns:
  - say: "The quay is noted."
`;
const NOTE = "The quay is sold in March.";
const SENDS = `
scenario: sends what it read
turns:
  - calls: [{ tool: file_read, args: { path: desk/note.md } }]
  - calls: [{ tool: a2a_desk_reports, args: { message: "${NOTE}" } }]
  - say: "It said: {{ tool.a2a_desk_reports }}"
`;

/** bob sends the note; `clearance` is what he trusts alice's Remit with. */
async function sends(bob: Machine, url: string, token: string, clearance?: string) {
  const file = await bob.write("token", token);
  const added = await bob.remit([
    ...["a2a", "add", url, "--name", "desk", "--token-file", file, "--yes"],
    ...(clearance === undefined ? [] : ["--clearance", clearance]),
  ]);
  assert.equal(added.code, 0, added.stderr);
  await bob.write("desk/note.md", `${NOTE}\n`);
  await bob.write(
    "answers.json",
    JSON.stringify({
      answers: [{
        ...{ tool: "a2a_desk_reports", answer: "allow", max: 9 },
        arguments: { message: NOTE },
      }],
    }),
  );
  return await bob.remit([
    ...[
      "run",
      "-p",
      "Tell the desk",
      "--answers",
      "answers.json",
      "--on-question",
      "deny",
      "--json",
    ],
    ...["--mount", `desk=${bob.dir}/desk:ro`, ...await playing(bob, SENDS)],
  ]);
}

Deno.test("what is internal would have arrived at a trusted peer as public, and at another one at all", async () => {
  await onMachine(async (alice) => {
    const play = await alice.write("play.yaml", REPORTS);
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
    const token = (await alice.remit(["a2a", "token", "create", "bob"])).stdout;
    const service = await startService(alice);
    try {
      await onMachine(async (bob) => {
        await sends(bob, service.url, token);
        assert.deepEqual(await alice.json(["task", "show"]), []);
      });
      await onMachine(async (bob) => {
        const ran = await sends(bob, service.url, token, "internal");
        assert.equal(ran.code, 0, ran.stdout + ran.stderr);
        assert.match(ran.stdout, /The quay is noted/);
        const tasks = Tasks.parse(await alice.json(["task", "show"]));
        assert.deepEqual(tasks.map(({ colour, label }) => [colour, label]), [["RED", "internal"]]);
        const { result } = Told.parse(await list(service.url, token.trim()));
        assert.deepEqual(
          result.tasks.map(({ status }) => status.message?.metadata),
          [{ "remit/label": "internal" }],
        );
      });
    } finally {
      service.kill("SIGTERM");
      await service.ended;
    }
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
