import assert from "node:assert/strict";
import { dirname } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { freshCommand } from "../_fixture/mcp_command.ts";
import { makeReload, type ServiceRules } from "./reload.ts";
import { settleService } from "./setting.ts";

const FIRST = `model: scripted:play.yaml
serve: { listen: "127.0.0.1:1", name: First, skills: [{ id: ask, name: Ask, description: Asks. }] }
rules: [{ tool: file_write, mode: consent }]
agents: { desk: { name: desk, persona: "", labels: {}, limits: {}, env: {} } }
peers: { alice: { agent: desk } }
webhooks: { ci: { secret: ci, request: "{{body}}" } }
schedules: { nightly: { cron: "0 3 * * *", request: Tidy. } }
`;

/** A service whose remit.yaml a test rewrites. */
async function serving() {
  const command = freshCommand();
  const { disk, environment } = command.powers;
  const write = (text: string): void => disk.write(command.places.config, `version: 1\n${text}`);
  disk.makeFolder(dirname(command.places.config));
  disk.write(`${environment.cwd}/play.yaml`, "scenario: one\nturns:\n  - say: Yes.\n");
  write(FIRST);
  const setting = await settleService(command);
  const replaced: ServiceRules[] = [];
  const said: string[] = [];
  let fails: Fault | undefined;
  const reload = makeReload({
    first: { setting, config: setting.calls.config.service },
    settle: () => settleService(command),
    replace(rules) {
      if (fails !== undefined) return Promise.reject(fails);
      replaced.push(rules);
      return Promise.resolve();
    },
    note: (text) => void said.push(text),
  });
  return {
    ...{ write, reload, replaced, said },
    fail: (fault: Fault | undefined) => void (fails = fault),
    settle: () => settleService(command),
  };
}

Deno.test("carol's changed remit.yaml is put in force as a whole: peers, webhooks, schedules, skills", async () => {
  const { write, reload, replaced, said } = await serving();
  write(
    FIRST.replace("alice: { agent: desk }", "bob: {}, eve: {}").replace("id: ask", "id: tell")
      .replace("name: First", "name: Second").replace("0 3 * * *", "0 4 * * *"),
  );
  await reload();
  const [{ config, setting } = await Promise.reject(new Error(said.join()))] = replaced;
  assert.deepEqual(Object.keys(config.peers), ["bob", "eve"]);
  assert.deepEqual([config.serve.name, config.serve.skills?.[0]?.id], ["Second", "tell"]);
  assert.equal(setting.settled("peer", "eve").setting.profile, "guest");
  assert.deepEqual(said, ["remit.yaml was read again: 2 peers, 1 webhooks, 1 schedules"]);
});

Deno.test("a file that does not stand changes nothing, and its line is said; the next good one is taken", async () => {
  const { write, reload, replaced, said } = await serving();
  for (
    const bad of [
      "peers: [",
      `${FIRST}paers: {}\n`,
      FIRST.replace("agent: desk", "agent: dask"),
      FIRST.replace("{ cron", "{ agent: dask, cron"),
      FIRST.replace("{ secret", "{ mounts: [none], secret"),
      FIRST.replace("scripted:play.yaml", "scripted:none.yaml"),
    ]
  ) {
    write(bad);
    await reload();
    assert.match(said.at(-1) ?? "", /^remit\.yaml is not taken, what was read before holds: /);
  }
  assert.equal(replaced.length, 0);
  write(FIRST.replace("alice", "bob"));
  await reload();
  assert.deepEqual(replaced.map(({ config }) => Object.keys(config.peers)), [["bob"]]);
});

Deno.test("an agent that is not there is an error with its line before anything is served", async () => {
  const { write, settle } = await serving();
  const refused = async (text: string, entry: RegExp): Promise<void> => {
    write(text);
    await assert.rejects(settle(), (error) => {
      assert.ok(error instanceof Fault);
      assert.match(error.message, entry);
      assert.match(error.message, /remit\.yaml:\d+.*"dask"/s);
      return true;
    });
  };
  await refused(FIRST.replace("agent: desk", "agent: dask"), /^peers\.alice \(/);
  await refused(FIRST.replace("{ secret", "{ agent: dask, secret"), /^webhooks\.ci \(/);
  await refused(FIRST.replace("{ cron", "{ agent: dask, cron"), /^schedules\.nightly \(/);
  await refused(FIRST.replace("id: ask", "agent: dask, id: ask"), /^serve\.skills \(.*skill "ask"/);
});

Deno.test("other rules than the kernel was started with are refused by name; the same ones at other lines are not", async () => {
  const { write, reload, replaced, said } = await serving();
  write(FIRST.replace("mode: consent", "mode: auto"));
  await reload();
  assert.match(said.at(-1) ?? "", /"rules"; start the service again/);
  write(`mounts: { more: { dir: . } }\n${FIRST}`);
  await reload();
  assert.match(said.at(-1) ?? "", /"mounts"; start the service again/);
  // A name that a person chose is no place in a file.
  write(`commands: { at: { program: at } }\nclearance: { at: internal }\n${FIRST}`);
  await reload();
  assert.match(said.at(-1) ?? "", /"clearance", "commands"; start the service again/);
  assert.equal(replaced.length, 0);
  write(`\n\n# moved\n${FIRST}`);
  await reload();
  assert.equal(replaced.length, 1, said.join("\n"));
});

Deno.test("what the gateway was started with stays as it was, and is said", async () => {
  const { write, reload, replaced, said } = await serving();
  write(FIRST.replace("127.0.0.1:1", "0.0.0.0:2").replace("name: First", "page: false"));
  await reload();
  assert.equal(replaced[0]?.config.serve.listen, "127.0.0.1:1");
  assert.equal(replaced[0]?.config.serve.page, undefined);
  assert.equal(replaced[0]?.config.serve.name, undefined);
  assert.deepEqual(said.slice(1), [
    '"serve.listen" holds after the next start',
    '"serve.page" holds after the next start',
  ]);
});

Deno.test("rules that the kernel does not take are not in force: the next comparison is with the old ones", async () => {
  const { write, reload, replaced, said, fail } = await serving();
  fail(new Fault("unavailable", "Cannot lend: it has gone"));
  write(FIRST.replace("alice", "bob"));
  await reload();
  await reload();
  assert.equal(said.length, 2);
  fail(undefined);
  await reload();
  assert.equal(replaced.length, 1);
});

Deno.test("a storm of signals is read for once more, and what was written last is in force", async () => {
  const { write, reload, replaced, said } = await serving();
  const storm = Array.from({ length: 500 }, () => reload());
  write(FIRST.replace("alice: { agent: desk }", "bob: {}"));
  // While the first one reads.
  await storm[0];
  storm.push(reload(), reload());
  await Promise.all(storm);
  assert.ok(said.length <= 3, `${said.length} readings`);
  assert.deepEqual(Object.keys(replaced.at(-1)?.config.peers ?? {}), ["bob"]);
});
