import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault, toJson } from "../../contracts/base/mod.ts";
import { RemitConfig } from "../../contracts/policy/mod.ts";
import { CONTROL_VERSION } from "../../contracts/wire/mod.ts";
import { SQLITE_MIGRATIONS } from "../../store/migrations.ts";
import { question, TASK } from "../_fixture/samples.ts";
import { fakePowers, runCommandLine } from "../_fixture/world.ts";
import { placesOf } from "../../launch/disk/places.ts";
import { parseConfigText } from "../../config/text.ts";
import { FORMATS, VERSION } from "../../launch/kernel/version.ts";
import { isNewer } from "./version_command.ts";
import { parseKey, parseValue, readKey, withKey } from "./yaml_edit.ts";

type Powers = ReturnType<typeof fakePowers>;
const said = ({ screen }: Powers): string => screen.outs.splice(0).join("");
const complained = ({ screen }: Powers): string => screen.lines.splice(0).join("\n");
const TEXT = `# mine
version: 1

model: ollama:qwen3 # the quick one
limits:
  # a lot
  money: 2
`;

Deno.test("config set keeps comments and places, and leaves the rest as it was written", () => {
  const money = withKey(TEXT, parseKey("limits.money"), 3);
  assert.equal(money, TEXT.replace("money: 2", "money: 3"));
  const never = withKey(TEXT, parseKey("never.0"), "**/private/**");
  assert.equal(never, `${TEXT}never:\n  - "**/private/**"\n`);
  assert.equal(
    withKey(TEXT, parseKey(`clearance."model:api.example.com"`), "internal"),
    `${TEXT}clearance:\n  model:api.example.com: internal\n`,
  );
  assert.equal(withKey(TEXT, ["model"], undefined).includes("ollama"), false);
  assert.deepEqual(readKey(TEXT, parseKey("limits")), { money: 2 });
  assert.equal(readKey(TEXT, parseKey("rules.0.mode")), undefined);
  assert.deepEqual(["2", "true", "[a, b]", "ollama:qwen3", "*"].map(parseValue), [
    ...[2, true, ["a", "b"], "ollama:qwen3", "*"],
  ]);
  for (const bad of ["", ".", "a..b", "a.", 'a"b', "x.".repeat(20) + "x"]) {
    assert.throws(() => parseKey(bad), Fault, bad);
  }
  assert.throws(() => withKey("version: 1\nmodel: &a x\nembedder: *a\n", ["model"], "y"), Fault);
  assert.throws(() => withKey(TEXT, ["model", "deep"], 1), /is a value and no section/);
});

Deno.test("config set writes whole or not at all, says what was meant, and ends a folder's trust", async () => {
  const powers = fakePowers();
  const { config } = placesOf(powers.environment, undefined);
  const run = (...argv: string[]): Promise<number> => runCommandLine(argv, powers);
  assert.equal(await run("config", "get", "model"), 1);
  assert.equal(await run("config", "set", "limits.money", "2"), 0);
  assert.equal(await run("config", "set", "model", "ollama:qwen3"), 0);
  said(powers);
  assert.equal(await run("config", "get", "limits.money"), 0);
  assert.equal(said(powers), "2\n");
  const before = Deno.readTextFileSync(config);
  assert.equal((Deno.statSync(config).mode ?? 0) & 0o777, 0o600);
  complained(powers);
  assert.equal(await run("config", "set", "limts.money", "2"), 2);
  assert.match(complained(powers), /did you mean limits\?/);
  assert.equal(await run("config", "set", "limits.mony", "2"), 2);
  assert.match(complained(powers), /did you mean limits\.money\?/);
  assert.equal(await run("config", "set", "limits.money", "much"), 2);
  assert.equal(await run("config", "set", "version", "2"), 2);
  assert.equal(Deno.readTextFileSync(config), before);
  // What cannot be read is not written to.
  Deno.writeTextFileSync(config, "version: 1\nmodle: x\n");
  assert.equal(await run("config", "set", "model", "ollama:a"), 2);
  assert.match(complained(powers), /unknown key "modle"; did you mean "model"\?/);
  assert.equal(Deno.readTextFileSync(config), "version: 1\nmodle: x\n");
  Deno.writeTextFileSync(config, before);

  assert.equal(await run("init"), 0);
  assert.equal(await run("trust"), 0);
  said(powers);
  assert.equal(await run("config", "path", "--json"), 0);
  assert.equal(JSON.parse(said(powers)).folder.trusted, true);
  assert.equal(await run("config", "set", "strict", "true", "--folder"), 0);
  assert.match(said(powers), /no longer what you trusted/);
  assert.equal(await run("config", "path", "--json"), 0);
  assert.equal(JSON.parse(said(powers)).folder.trusted, false);
  assert.equal(await run("config", "unset", "strict", "--folder"), 0);
  assert.equal(Deno.readTextFileSync(config), before);
});

Deno.test("init writes a remit.yaml that is read, and never over one that is there", async () => {
  const powers = fakePowers();
  for (const argv of [["init"], ["init", "--own"]]) {
    assert.equal(await runCommandLine([...argv, "--json"], powers), 0);
    const { file } = JSON.parse(said(powers));
    const text = Deno.readTextFileSync(file);
    const [first = ""] = text.split("\n");
    const schema = /^# yaml-language-server: \$schema=(\/.*\/schema\/remit\.json)$/.exec(first)
      ?.[1];
    assert.equal(JSON.parse(Deno.readTextFileSync(schema ?? "")).title, "remit.yaml");
    assert.equal(parseConfigText(file, text).config.version, 1);
    // With every comment of a setting taken away the file still says what it may.
    const open = text.replace(/^# (?=[a-z]+:(?: [^"]|$)| {2})/gm, "").replace(/^# {3}/gm, "  ");
    assert.doesNotThrow(() => parseConfigText(file, open), open);
    assert.equal(await runCommandLine(argv, powers), 1);
    assert.match(complained(powers), /it is there/);
    assert.equal(Deno.readTextFileSync(file), text);
  }
  assert.equal(await runCommandLine(["init", "nowhere"], powers), 2);
});

Deno.test("status is one screen: kernel, model, folder, what waits, what today cost", async () => {
  const now = 1_700_000_000_000;
  const inference = (to: number, money: number): unknown => ({
    ...{ kind: "inference", id: "1", from: to, to, ok: true },
    attributes: { inputTokens: 10, outputTokens: 5, money },
  });
  const powers = fakePowers({
    ops: {
      ps: () => [{ pid: 1 }],
      questions: () => [toJson(question())],
      tasks: (body) =>
        "statuses" in (body as object) ? [] : [{ id: TASK, updatedAt: now, createdAt: now }],
      spans: () => toJson([inference(now, 0.25), inference(now - 200_000_000, 4)]),
      budgets: () => [
        { name: "the budget of 5 tabs a day", per: "day", of: "tabs", most: 5, spent: 4, held: 0 },
        { name: "the budget of 9 USD a day", per: "day", of: "money", most: 9, spent: 1, held: 0 },
      ],
      workspaces: () => [{
        ...{ task: TASK, objective: "Count", folder: "/work", files: 1, bytes: 7, colour: "RED" },
        ...{ label: "internal", expiresAt: now, warned: true, promoted: false },
      }],
    },
  });
  assert.equal(await runCommandLine(["status", "--json"], powers), 0);
  assert.equal(JSON.parse(said(powers)).kernel, null);
  Deno.mkdirSync(placesOf(powers.environment, undefined).state, { recursive: true, mode: 0o700 });
  assert.equal(await runCommandLine(["status", "--json"], powers), 0);
  const found = JSON.parse(said(powers));
  assert.deepEqual(found.today, { tasks: 1, tokens: 15, money: 0.25 });
  assert.equal(found.waiting.length, 1);
  assert.equal(await runCommandLine(["status"], powers), 0);
  const screen = said(powers);
  assert(screen.split("\n").length < 24);
  assert.match(screen, /today +1 tasks, 15 tokens, 0\.2500 USD/);
  assert.deepEqual([found.expiring, found.budgets.length], [1, 1]);
  assert.match(screen, /expires +scratch of 1 tasks: "remit [^"]*workspace list/);
  assert.match(screen, /budget +the budget of 5 tabs a day: 4 used, 1 left/);
  assert.doesNotMatch(screen, /9 USD/);
});

Deno.test("version names the formats as their readers have them", async () => {
  const powers = fakePowers();
  assert.equal(await runCommandLine(["version", "--json"], powers), 0);
  const { outputFormats, ...rest } = JSON.parse(said(powers));
  assert.deepEqual(rest, { version: VERSION, formats: FORMATS });
  assert.equal(outputFormats["stream-json"], "application/jsonl");
  assert.equal(FORMATS.state, SQLITE_MIGRATIONS.at(-1)?.version);
  assert.equal(FORMATS.control, CONTROL_VERSION);
  assert.equal(RemitConfig.shape.version.value, FORMATS.config);
});

Deno.test("versions are ordered as semver orders them", () => {
  const sorted = ["0.9.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2"];
  sorted.push("1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.10", "1.2.0");
  sorted.forEach((a, n) =>
    sorted.forEach((b, m) => assert.equal(isNewer(a, b), n > m, `${a} ${b}`))
  );
});

Deno.test("upgrade asks the registry of this home through the net rules, says how, and changes nothing", async () => {
  const answers: string[] = [];
  const asked: string[] = [];
  const base = fakePowers({ env: { NPM_CONFIG_REGISTRY: "http://127.0.0.1:9/npm" } });
  const fetch = (url: string): Promise<never> => {
    asked.push(url);
    const body = answers.shift();
    if (body === undefined) {
      return Promise.reject(new Fault("unavailable", "Cannot fetch: no network"));
    }
    return Promise.resolve({ url, mediaType: "", bytes: new TextEncoder().encode(body) } as never);
  };
  const powers = { ...base, wikis: { ...base.wikis, fetch } };
  answers.push('{"version":"99.1.0"}', `{"version":"${VERSION}"}`, '{"version":"; rm -rf"}');
  assert.equal(await runCommandLine(["upgrade"], powers), 0);
  assert.match(said(powers), /^remit 99\.1\.0 is there; this is .*\n.*99\.1\.0|pull/);
  assert.deepEqual(asked, ["http://127.0.0.1:9/npm/remit-runtime/latest"]);
  assert.equal(await runCommandLine(["upgrade"], powers), 0);
  assert.match(said(powers), /is the newest/);
  assert.equal(await runCommandLine(["upgrade"], powers), 67);
  complained(powers);
  assert.notEqual(await runCommandLine(["upgrade"], powers), 0);
  assert.match(complained(powers), /no network/);
  const silent = fakePowers();
  assert.notEqual(await runCommandLine(["upgrade"], silent), 0);
  assert.match(complained(silent), /npm view/);
  assert.equal(
    Deno.readTextFileSync(join(base.environment.home, "deno.json")).includes("99.1"),
    false,
  );
});
