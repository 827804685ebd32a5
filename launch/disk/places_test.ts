import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { fakePowers } from "../../cli/_fixture/world.ts";
import {
  absolute,
  makePrivateFolder,
  obstaclesOf,
  obstacleText,
  placesOf,
  preparePlaces,
} from "./places.ts";

const environment = (env: Record<string, string>): Parameters<typeof placesOf>[0] => ({
  cwd: "/home/alice/work",
  env: (name) => env[name],
  uid: 1_000,
});

Deno.test("state lies where XDG says, else beneath the home folder, else where the flag says", () => {
  assert.equal(
    placesOf(environment({ HOME: "/h" }), undefined).state,
    "/h/.local/state/remit/default",
  );
  assert.equal(
    placesOf(environment({ HOME: "/h", XDG_STATE_HOME: "/s" }), undefined).state,
    "/s/remit/default",
  );
  assert.equal(
    placesOf(environment({ HOME: "/h", XDG_STATE_HOME: "relative" }), undefined).state,
    "/h/.local/state/remit/default",
  );
  assert.equal(placesOf(environment({ HOME: "/h" }), "st").state, "/home/alice/work/st");
});

Deno.test("sockets lie in a short folder, another one for each state", () => {
  const one = placesOf(environment({ HOME: "/h" }), "/a");
  const other = placesOf(environment({ HOME: "/h" }), "/b");
  assert.notEqual(one.runtime, other.runtime);
  assert.match(one.runtime, /^\/tmp\/remit-1000-[0-9a-f]{12}$/);
  const long = placesOf(environment({ HOME: "/h", XDG_RUNTIME_DIR: `/${"x".repeat(90)}` }), "/a");
  assert.equal(long.runtime, one.runtime);
  for (const each of [one.controlSocket, ...one.brokerSockets]) assert.ok(each.length < 100);
});

Deno.test("a path is taken against the caller's folder, or the home folder", () => {
  const here = environment({ HOME: "/h" });
  assert.equal(absolute(here, "../x"), "/home/alice/x");
  assert.equal(absolute(here, "~/x"), "/h/x");
  assert.equal(absolute(here, "/a/../b"), "/b");
});

Deno.test("state folders are the person's alone", () => {
  const powers = fakePowers();
  const places = placesOf(powers.environment, undefined);
  preparePlaces(powers.disk, places, powers.environment.uid);
  for (const each of [places.state, places.kernel, places.person, places.runtime]) {
    assert.equal((Deno.statSync(each).mode ?? 0) & 0o777, 0o700, each);
  }
});

Deno.test("a folder that others can enter, or that is somebody else's, is refused", () => {
  const powers = fakePowers();
  const open = join(powers.root, "open");
  Deno.mkdirSync(open, { mode: 0o755 });
  Deno.chmodSync(open, 0o755);
  assert.throws(() => makePrivateFolder(powers.disk, open, powers.environment.uid), Fault);
  const mine = join(powers.root, "mine");
  Deno.mkdirSync(mine, { mode: 0o700 });
  assert.throws(() => makePrivateFolder(powers.disk, mine, powers.environment.uid + 1), Fault);
});

Deno.test("mallory's link in the place of the runtime folder is refused", () => {
  const powers = fakePowers();
  const places = placesOf(powers.environment, undefined);
  const elsewhere = join(powers.root, "elsewhere");
  Deno.mkdirSync(elsewhere, { mode: 0o700 });
  Deno.mkdirSync(join(powers.root, "run"), { mode: 0o700 });
  Deno.symlinkSync(elsewhere, places.runtime);
  assert.throws(() => preparePlaces(powers.disk, places, powers.environment.uid), /it is a link/);
});

Deno.test("a state that is a file, or lies where nothing can be written, is refused in a sentence", () => {
  const powers = fakePowers();
  const file = join(Deno.makeTempDirSync(), "f");
  Deno.writeTextFileSync(file, "x");
  assert.throws(
    () => preparePlaces(powers.disk, placesOf(powers.environment, file), powers.environment.uid),
    (error) => error instanceof Fault && /it is a file; --state DIR/.test(error.message),
  );
  const within = placesOf(powers.environment, join(file, "state"));
  const [first] = obstaclesOf(powers.disk, within);
  assert.match(
    first === undefined ? "" : obstacleText(first),
    /f" is a file; --state DIR, XDG_STATE/,
  );
  assert.deepEqual(obstaclesOf(powers.disk, placesOf(powers.environment, undefined)), []);
});
