/** What waits for a person, and who may answer it: a host only where remit.yaml says so, and never a stepUp. */
import assert from "node:assert/strict";
import type { Client } from "@modelcontextprotocol/client";
import { type Machine, onMachine } from "../fake/remit.ts";
import { makeWiki } from "../fake/wikis.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { type ClientWish, overPipe, textOf } from "./_served.ts";

const WRITE = { name: "file_write", arguments: { path: "notes/new.md", content: "fresh\n" } };
const APPLY = { name: "patch_apply", arguments: {} };

async function asHost(
  config: string,
  wish: ClientWish,
  f: (client: Client, machine: Machine) => Promise<void>,
  more: readonly string[] = [],
): Promise<void> {
  await onMachine(async (machine) => {
    await machine.write("notes/plan.md", "call the supplier\n");
    const folder = `${machine.env["XDG_CONFIG_HOME"]}/remit`;
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(`${folder}/remit.yaml`, `version: 1\n${config}`);
    const client = await overPipe(
      machine,
      ["--mount", `notes=${machine.dir}/notes`, ...more],
      wish,
    );
    try {
      await f(client, machine);
    } finally {
      await client.close();
    }
  });
}

const questionIn = (text: string): string => /\bq[0-9a-z]{12}\b/.exec(text)?.[0] ?? "";
const isThere = (machine: Machine): Promise<boolean> =>
  Deno.stat(`${machine.dir}/notes/new.md`).then(() => true, () => false);

Deno.test("a host's change is staged, waits for bob at his terminal, and the same call then goes through", async () => {
  await asHost("", {}, async (client, machine) => {
    assert.match(textOf(await client.callTool(WRITE)), /^staged: new notes\/new\.md/);
    const read = { name: "file_read", arguments: { path: "notes/new.md" } };
    assert.equal(textOf(await client.callTool(read)), "fresh\n", "it sees what it staged");
    const waiting = await client.callTool(APPLY);
    assert.equal(waiting.isError, true);
    const question = questionIn(textOf(waiting));
    assert.match(textOf(waiting), /Not done: this call waits for a person/);
    assert.match(
      textOf(waiting),
      new RegExp(`remit answer ${question} allow|answer ${question} allow`),
    );
    assert.equal(
      questionIn(textOf(await client.callTool(APPLY))),
      question,
      "it is not asked twice",
    );
    assert.equal(await isThere(machine), false);
    const answered = await machine.remit(["answer", question, "allow"]);
    assert.match(answered.stderr, /fresh|applied/);
    const done = await client.callTool(APPLY);
    assert.match(textOf(done), /^applied 1 change: notes\/new\.md/);
    assert.equal(await machine.read("notes/new.md"), "fresh\n");
  });
});

Deno.test("a call that waits is told while a host shows progress, and ends when bob denies it", async () => {
  await asHost("", {}, async (client, machine) => {
    await client.callTool(WRITE);
    const told = Promise.withResolvers<string>();
    const applying = client.callTool(APPLY, {
      onprogress: ({ message = "" }) => {
        if (questionIn(message) !== "") told.resolve(questionIn(message));
      },
    });
    await machine.remit(["answer", await told.promise, "deny", "--say", "Not today"]);
    const denied = await applying;
    assert.equal(denied.isError, true);
    assert.match(textOf(denied), /deniedByUser.*Not today/s);
    assert.equal(await isThere(machine), false);
  });
});

for (const mode of ["legacy", "auto"] as const) {
  Deno.test(`with selfConsent the host's own person is asked, and only a clear yes lets it happen (${mode})`, async () => {
    const said: ("decline" | "cancel" | { readonly allow: boolean })[] = [
      "decline",
      "cancel",
      { allow: false },
      { allow: true },
    ];
    const asked: string[] = [];
    const answer = (message: string): typeof said[number] => {
      asked.push(message);
      return said.shift() ?? "decline";
    };
    await asHost("selfConsent: true\n", { mode, answer }, async (client, machine) => {
      for (let n = 0; n < 3; n++) {
        // Each time another patch: a denied one is not put to a person twice.
        const content = `fresh ${n}\n`;
        await client.callTool({ ...WRITE, arguments: { ...WRITE.arguments, content } });
        const denied = await client.callTool(APPLY);
        assert.match(textOf(denied), /deniedByUser/);
        assert.equal(await isThere(machine), false);
      }
      await client.callTool(WRITE);
      assert.match(textOf(await client.callTool(APPLY)), /^applied 1 change/);
      assert.equal(await machine.read("notes/new.md"), "fresh\n");
      assert.equal(asked.length, 4);
      assert.match(asked[0] ?? "", /Allow this once\?.*notes\/new\.md/s);
    });
  });
}

Deno.test("without selfConsent a host that has forms is asked nothing", async () => {
  let asked = 0;
  const answer = (): "accept" => {
    asked += 1;
    return "accept";
  };
  await asHost("", { answer }, async (client, machine) => {
    await client.callTool(WRITE);
    assert.match(textOf(await client.callTool(APPLY)), /Nobody can answer it through this host/);
    assert.equal(asked, 0);
    assert.equal(await isThere(machine), false);
  });
});

Deno.test("a stepUp is put to no host, whatever remit.yaml says of consent", async () => {
  let asked = 0;
  const answer = (): "accept" => {
    asked += 1;
    return "accept";
  };
  const config = "selfConsent: true\nrules:\n  - tool: patch_apply\n    mode: stepUp\n";
  await asHost(config, { answer }, async (client, machine) => {
    await client.callTool(WRITE);
    const waiting = textOf(await client.callTool(APPLY));
    assert.match(waiting, /It needs the operator's passphrase, and no host can answer it/);
    assert.equal(asked, 0);
    // Not with the consent key either, which the serving process holds.
    const answered = await machine.remit(["answer", questionIn(waiting), "allow"]);
    assert.notEqual(answered.code, 0);
    assert.equal(await isThere(machine), false);
  });
});

Deno.test("what a host staged and never proposed is put to bob when the host goes", async () => {
  await onMachine(async (machine) => {
    await machine.write("notes/plan.md", "call the supplier\n");
    const client = await overPipe(machine, ["--mount", `notes=${machine.dir}/notes`]);
    await client.callTool(WRITE);
    await client.close();
    const question = await waitUntil("its question", async () => {
      const { stdout } = await machine.remit(["questions", "--json"]);
      return questionIn(stdout) || undefined;
    });
    await machine.remit(["answer", question, "allow"]);
    await waitUntil("the file", async () => await isThere(machine) || undefined);
  });
});

Deno.test("run_task runs a task of its own, tells of its calls and gives its answer", async () => {
  await onMachine(async (machine) => {
    await machine.write("notes/plan.md", "call the supplier\n");
    const play = await machine.write(
      "play.yaml",
      // The SDK's client drops progress that it reads in one piece with the answer: the model thinks for a while.
      "scenario: reads\nturns:\n  - calls: [{ tool: file_read, args: { path: notes/plan.md } }]\n" +
        "  - { say: 'It says {{ tool.file_read }}', stream: { firstMs: 500 } }\n",
    );
    const client = await overPipe(machine, [
      ...["--mount", `notes=${machine.dir}/notes`, "--model", `scripted:${play}`],
    ]);
    const told: string[] = [];
    const done = await client.callTool({
      name: "run_task",
      arguments: { request: "What is the plan?" },
    }, {
      onprogress: ({ message = "" }) => void told.push(message),
    });
    assert.match(textOf(done), /^It says call the supplier/);
    assert.deepEqual(told, ["file_read notes/plan.md"]);
    const unknown = await client.callTool({
      name: "run_task",
      arguments: { request: "x", agent: "root" },
    });
    assert.match(textOf(unknown), /Cannot run the task: there is no such agent/);
    await client.close();
  });
});

Deno.test("wiki pages are resources, a path is none, and what a host is not cleared for is not listed", async () => {
  await onMachine(async (machine) => {
    const wiki = await makeWiki(machine);
    const source = await machine.write(
      "docs/lanterns.md",
      "# Lanterns\n\nA lantern needs oil every day.\n",
    );
    await wiki.must("ingest", source);
    const kept = await machine.write("docs/vault.md", "# Vault\n\nThe vault opens with 4711.\n");
    await wiki.must("ingest", kept, "--label", "secret");
    const client = await overPipe(machine, ["--wiki", wiki.folder]);
    const { resources } = await client.listResources();
    assert.ok(
      !JSON.stringify(resources).toLowerCase().includes("vault"),
      "secret pages are not listed",
    );
    await assert.rejects(client.readResource({ uri: "wiki://page/vault" }), /vault|not/i);
    const [first] = resources;
    assert.ok(first !== undefined, "there is a page");
    assert.match(first.uri, /^wiki:\/\/page\/[\w%-]+$/);
    const { contents } = await client.readResource({ uri: first.uri });
    assert.match(String(Object(contents[0]).text), /oil every day/);
    for (
      const uri of [
        "wiki://page/../../../etc/passwd",
        "wiki://page/..%2f..%2fetc%2fpasswd",
        "wiki://page/%00",
        "wiki://page/",
        "wiki://raw/x",
        "file:///etc/passwd",
        "wiki://page/a/b",
      ]
    ) {
      await assert.rejects(client.readResource({ uri }), /not found/i, uri);
    }
    await client.close();
  });
});

Deno.test("an anonymous host consents to nothing, whatever remit.yaml says of hosts", async () => {
  const asked: string[] = [];
  const answer = (message: string): { readonly allow: boolean } => {
    asked.push(message);
    return { allow: true };
  };
  const config = "selfConsent: true\nrules:\n  - { tool: file_read, mode: consent }\n";
  const read = { name: "file_read", arguments: { path: "notes/plan.md" } };
  for (const profile of ["anonymous", "guest"]) {
    await asHost(config, { mode: "legacy", answer }, async (client, machine) => {
      const told = textOf(await client.callTool(read));
      if (profile === "guest") return assert.match(told, /call the supplier/);
      assert.match(told, /Not done: this call waits for a person/);
      assert.deepEqual(asked, []);
      const done = await machine.remit(["answer", questionIn(told), "allow"]);
      assert.equal(done.code, 0, done.stderr);
      assert.match(textOf(await client.callTool(read)), /call the supplier/);
    }, ["--profile", profile]);
  }
  assert.equal(asked.length, 1, "the guest's own person, once");
});
