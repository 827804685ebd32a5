import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault, type FaultCode } from "../../contracts/base/mod.ts";
import type { Secret } from "../../contracts/wire/mod.ts";
import { fakePowers } from "../../cli/_fixture/world.ts";
import { type Places, placesOf, preparePlaces } from "../../launch/disk/places.ts";
import { loadSecrets, openSecretKeep } from "./keep.ts";

const TOKEN: Secret = {
  name: "tracker",
  origin: "https://api.example.org",
  header: "authorization",
  prefix: "Bearer ",
  value: "correct-horse-battery",
};

const fault = (code: FaultCode, said: RegExp) => (error: unknown): boolean =>
  error instanceof Fault && error.code === code && said.test(error.message);

function fresh(): {
  readonly disk: ReturnType<typeof fakePowers>["disk"];
  readonly places: Places;
} {
  const powers = fakePowers();
  const places = placesOf(powers.environment, undefined);
  preparePlaces(powers.disk, places, powers.environment.uid);
  return { disk: powers.disk, places };
}

const edit = (path: string, change: (text: string) => string): void =>
  Deno.writeTextFileSync(path, change(Deno.readTextFileSync(path)));

Deno.test("alice's secret is kept sealed, in files of her own, and loaded as it was", () => {
  const { disk, places } = fresh();
  assert.deepEqual(loadSecrets(disk, places), []);
  const keep = openSecretKeep(disk, places);
  assert.equal(keep.set(TOKEN), "added");
  assert.equal(keep.set({ ...TOKEN, value: "another-horse" }), "replaced");
  assert.deepEqual(loadSecrets(disk, places), [{ ...TOKEN, value: "another-horse" }]);
  assert.deepEqual(keep.list(), [{
    name: "tracker",
    origin: "https://api.example.org",
    header: "authorization",
    prefix: "Bearer ",
  }]);
  for (const name of ["secrets.json", "secret_key"]) {
    const path = join(places.person, name);
    assert.equal((Deno.statSync(path).mode ?? 0) & 0o777, 0o600, name);
    assert.doesNotMatch(Deno.readTextFileSync(path), /horse/, name);
  }
});

Deno.test("the same value is sealed otherwise each time", () => {
  const { disk, places } = fresh();
  const keep = openSecretKeep(disk, places);
  const sealed = (): string => {
    keep.set(TOKEN);
    return Deno.readTextFileSync(join(places.person, "secrets.json"));
  };
  assert.notEqual(sealed(), sealed());
});

Deno.test("mallory edits where a secret goes: it does not open any more", () => {
  for (
    const change of [
      (text: string): string => text.replace("api.example.org", "evil.example.org"),
      (text: string): string => text.replace('"authorization"', '"x-log"'),
      (text: string): string => text.replace('"Bearer "', '""'),
      (text: string): string => text.replace('"tracker"', '"other"'),
    ]
  ) {
    const { disk, places } = fresh();
    openSecretKeep(disk, places).set(TOKEN);
    edit(join(places.person, "secrets.json"), change);
    assert.throws(() => loadSecrets(disk, places), fault("invalidInput", /Cannot open secret/));
  }
});

Deno.test("a cut or changed value, a cut file and another key are told apart from nothing", () => {
  const broken: readonly (readonly [string, (text: string) => string, RegExp])[] = [
    ["secrets.json", (text) => text.replace(/("sealed": ".*).{4}"/, '$1"'), /Cannot open secret/],
    [
      "secrets.json",
      (text) => text.replace(/("tag": ").{22}/, `$1${"A".repeat(22)}`),
      /Cannot open/,
    ],
    ["secrets.json", (text) => text.replace(/("tag": ".{4}).*"/, '$1"'), /it is damaged/],
    ["secrets.json", (text) => text.slice(0, -20), /it is damaged/],
    ["secrets.json", () => "", /it is damaged/],
    ["secret_key", () => `${"A".repeat(43)}\n`, /the key is another/],
    ["secret_key", (text) => text.slice(5), /the file is damaged/],
  ];
  for (const [name, change, said] of broken) {
    const { disk, places } = fresh();
    openSecretKeep(disk, places).set(TOKEN);
    edit(join(places.person, name), change);
    assert.throws(() => loadSecrets(disk, places), fault("invalidInput", said), String(said));
  }
});

Deno.test("a damaged file's fault repeats nothing of it", () => {
  const { disk, places } = fresh();
  openSecretKeep(disk, places).set(TOKEN);
  edit(join(places.person, "secrets.json"), () => "hunter2-hunter2");
  try {
    loadSecrets(disk, places);
    assert.fail("it was read");
  } catch (error) {
    assert.ok(error instanceof Fault);
    assert.doesNotMatch(`${error.message} ${String(error.cause)}`, /hunter2/);
  }
});

Deno.test("a key that is gone is not replaced as long as it is needed", () => {
  const { disk, places } = fresh();
  const keep = openSecretKeep(disk, places);
  keep.set(TOKEN);
  Deno.removeSync(join(places.person, "secret_key"));
  assert.throws(() => keep.load(), fault("notFound", /is gone/));
  assert.throws(() => keep.set({ ...TOKEN, name: "second" }), fault("notFound", /is gone/));
  // Its only secret is given anew: nothing is lost with a new key.
  assert.equal(keep.set(TOKEN), "replaced");
  assert.deepEqual(keep.load(), [TOKEN]);
});

Deno.test("files that others can read are refused", () => {
  for (const name of ["secrets.json", "secret_key"]) {
    const { disk, places } = fresh();
    const keep = openSecretKeep(disk, places);
    keep.set(TOKEN);
    Deno.chmodSync(join(places.person, name), 0o640);
    assert.throws(() => keep.load(), fault("refused", /make it 0600/));
    assert.throws(() => keep.set(TOKEN), fault("refused", /make it 0600/));
  }
});

Deno.test("of two commands that make the key at once, one key stays", () => {
  const { disk, places } = fresh();
  const path = join(places.person, "secret_key");
  disk.write(path, "first\n", { fresh: true });
  disk.write(path, "second\n", { fresh: true });
  assert.equal(Deno.readTextFileSync(path), "first\n");
  assert.deepEqual(disk.list(places.person), ["secret_key"]);
});
