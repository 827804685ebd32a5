import assert from "node:assert/strict";
import { join } from "node:path";
import { fakePowers, runCommandLine } from "../_fixture/world.ts";
import { loadConfig } from "../../config/files.ts";
import { placesOf } from "../../launch/disk/places.ts";
import { openSecretKeep } from "../../config/secret/keep.ts";
import { openFiringBook } from "../../service/trigger/firing.ts";
import { checkHook } from "../../service/trigger/delivery.ts";

const CONFIG = `version: 1
schedules: { nightly: { cron: "0 3 * * *", timezone: Europe/Paris, request: Tidy } }
webhooks:
  ci: { secret: ci, request: "{{body}}" }
  timed: { secret: ci, request: "{{body}}", timestamp: x-time, header: x-sign, path: /hooks/other }
serve: { url: "https://desk.example/" }
`;

type Faked = ReturnType<typeof fakePowers>;

function configured(parts: Parameters<typeof fakePowers>[0] = {}): Faked {
  const powers = fakePowers(parts);
  Deno.mkdirSync(join(powers.root, ".config/remit"), { recursive: true });
  Deno.writeTextFileSync(join(powers.root, ".config/remit/remit.yaml"), CONFIG);
  return powers;
}

const printed = (powers: Faked): string => powers.screen.outs.join("");
const keepOf = (powers: Faked): ReturnType<typeof openSecretKeep> =>
  openSecretKeep(powers.disk, placesOf(powers.environment, undefined));

Deno.test("a webhook's secret is kept for deliveries alone: no kernel is told of it", async () => {
  const powers = configured({ input: "a secret from elsewhere\n" });
  const before = keepOf(powers).digest();
  assert.equal(await runCommandLine(["webhook", "secret", "ci"], powers), 0);
  assert.ok(!(printed(powers) + powers.screen.lines.join("\n")).includes("from elsewhere"));
  const keep = keepOf(powers);
  assert.equal(keep.loadHook("ci"), "a secret from elsewhere");
  assert.deepEqual(keep.load(), []);
  assert.equal(keep.digest(), before);
  assert.equal(keep.loadHook("other"), undefined);
  assert.equal(await runCommandLine(["webhook", "secret", "nobody"], powers), 2);
  Deno.removeSync(powers.root, { recursive: true });
});

Deno.test("a secret that is kept for an origin is no webhook's, and is not replaced by one", async () => {
  const powers = configured({ input: "a value of the operator's" });
  const origin = ["--origin", "https://api.example.org", "--header", "authorization"];
  assert.equal(await runCommandLine(["secret", "set", "ci", ...origin], powers), 0);
  assert.equal(keepOf(powers).loadHook("ci"), undefined);
  assert.notEqual(await runCommandLine(["webhook", "secret", "ci"], powers), 0);
  assert.match(powers.screen.lines.join("\n"), /is kept for something else/);
  assert.equal(keepOf(powers).load().length, 1);
  Deno.removeSync(powers.root, { recursive: true });
});

Deno.test("webhook test signs as the service checks, and quotes what a shell would take apart", async () => {
  const powers = configured();
  assert.notEqual(await runCommandLine(["webhook", "test", "ci"], powers), 0);
  assert.equal(await runCommandLine(["webhook", "secret", "ci", "--make"], powers), 0);
  const secret = printed(powers).trim();
  for (const name of ["ci", "timed"]) {
    powers.screen.outs.length = 0;
    const words = ["webhook", "test", name, "--body", '{"a":"it\'s"}', "--json"];
    assert.equal(await runCommandLine(words, powers), 0);
    const { headers, body, url } = JSON.parse(printed(powers));
    const { webhooks } = loadConfig(powers.disk, placesOf(powers.environment, undefined), {
      ...{ folder: powers.environment.cwd, mounts: [] },
    }).service;
    const { verdict } = checkHook({ headers, body: Buffer.from(body) }, {
      ...{ config: webhooks[name] ?? {}, secret, now: powers.environment.now() },
    });
    assert.equal(verdict, "right");
    assert.equal(url, `https://desk.example/hooks/${name === "ci" ? "ci" : "other"}`);
  }
  powers.screen.outs.length = 0;
  assert.equal(await runCommandLine(["webhook", "test", "ci", "--body", "it's $(id)"], powers), 0);
  assert.match(printed(powers), /--data-binary 'it'\\''s \$\(id\)' 'https:/);
  assert.notEqual(
    await runCommandLine(["webhook", "test", "ci", "--body", "a\u001b[2J"], powers),
    0,
  );
  Deno.removeSync(powers.root, { recursive: true });
});

Deno.test("schedule list says when it fires next, when it did last, and how that went", async () => {
  const task = "t000000000001";
  const powers = configured({ ops: { task: () => ({ id: task, status: "done" }) } });
  const places = placesOf(powers.environment, undefined);
  Deno.mkdirSync(places.person, { recursive: true, mode: 0o700 });
  assert.equal(await runCommandLine(["schedule", "list", "--json"], powers), 0);
  const [fresh] = JSON.parse(printed(powers));
  assert.deepEqual(fresh.next.slice(0, 2), [
    "2023-11-15T02:00:00.000Z",
    "2023-11-16T02:00:00.000Z",
  ]);
  assert.equal(fresh.last, null);
  Deno.writeTextFileSync(
    join(places.person, "firings.json"),
    JSON.stringify({
      version: 1,
      schedules: {
        nightly: { upTo: 1_699_000_000_000, fired: 1_699_000_000_000, task, skipped: 2 },
      },
      seen: {},
    }),
  );
  powers.screen.outs.length = 0;
  assert.equal(await runCommandLine(["schedule", "list", "--json"], powers), 0);
  const [row] = JSON.parse(printed(powers));
  assert.deepEqual([row.last, row.task, row.status, row.skipped], [
    ...["2023-11-03T08:26:40.000Z", task, "done", 2],
  ]);
  Deno.removeSync(powers.root, { recursive: true });
});

Deno.test("the book of firings is read back, forgets old deliveries, and is not begun anew when damaged", () => {
  const powers = configured();
  const places = placesOf(powers.environment, undefined);
  Deno.mkdirSync(places.person, { recursive: true, mode: 0o700 });
  const book = openFiringBook(powers.disk, places);
  const mac = (n: number): string => String(n).padStart(64, "0");
  book.see("ci", mac(1), { at: 1_000, since: 0 });
  book.see("ci", mac(2), { at: 2_000, since: 500 });
  book.see("ci", mac(3), { at: 3_000, since: 1_500 });
  const again = openFiringBook(powers.disk, places);
  assert.deepEqual([1, 2, 3].map((n) => again.seen("ci", mac(n), 0)), [false, true, true]);
  assert.equal(again.seen("ci", mac(2), 2_500), false);
  assert.equal(again.seen("cd", mac(2), 0), false);
  assert.equal(again.schedule("__proto__"), undefined);
  Deno.writeTextFileSync(join(places.person, "firings.json"), "{");
  assert.throws(() => openFiringBook(powers.disk, places), /it is damaged/);
  Deno.removeSync(powers.root, { recursive: true });
});
