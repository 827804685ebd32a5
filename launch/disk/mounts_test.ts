import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault, type FaultCode } from "../../contracts/base/mod.ts";
import { fakePowers } from "../../cli/_fixture/world.ts";
import { mountNameOf, parseMount, resolveMount } from "./mounts.ts";
import { placesOf, preparePlaces } from "./places.ts";

const fault = (code: FaultCode) => (error: unknown): boolean =>
  error instanceof Fault && error.code === code;

Deno.test("a mount is read as name, folder and mode", () => {
  assert.deepEqual(parseMount("desk=/a/b"), { name: "desk", dir: "/a/b", mode: "stage" });
  assert.deepEqual(parseMount("desk=/a:b:ro"), { name: "desk", dir: "/a:b", mode: "ro" });
  assert.deepEqual(parseMount("a=/x=y:rw"), { name: "a", dir: "/x=y", mode: "rw" });
});

Deno.test("a mount without name or folder, or with a wrong mode, is refused", () => {
  for (const text of ["/a/b", "=x", "Desk=/a", "desk=", "desk=:ro", "desk=/a:wr"]) {
    assert.throws(() => parseMount(text), fault("invalidInput"), text);
  }
});

Deno.test("a folder's name becomes a mount's", () => {
  assert.equal(mountNameOf("/home/alice/My Notes (2)"), "my-notes-2-");
  assert.equal(mountNameOf("/"), "folder");
});

Deno.test("a mount that holds the state, or lies in it, is refused in every mode", () => {
  const powers = fakePowers();
  const places = placesOf(powers.environment, undefined);
  preparePlaces(powers.disk, places, powers.environment.uid);
  Deno.symlinkSync(places.kernel, join(powers.root, "link"));
  const parts = { environment: powers.environment, disk: powers.disk, places };
  for (const dir of [powers.root, places.state, places.kernel, join(powers.root, "link")]) {
    const wish = { name: "desk", dir, mode: "ro" as const };
    assert.throws(() => resolveMount(wish, parts), fault("refused"), dir);
  }
});

Deno.test("Remit's own code may be read and never written", () => {
  const powers = fakePowers();
  const parts = {
    environment: powers.environment,
    disk: powers.disk,
    places: placesOf(powers.environment, undefined),
  };
  for (const dir of [powers.environment.home, join(powers.environment.home, "cli"), "/"]) {
    const wish = { name: "code", dir, mode: "stage" as const };
    assert.throws(() => resolveMount(wish, parts), fault("refused"), dir);
  }
  const read = { name: "code", dir: powers.environment.home, mode: "ro" as const };
  assert.equal(resolveMount(read, parts).dir, powers.environment.home);
});

Deno.test("a mount is the real folder behind a link, and must be a folder", () => {
  const powers = fakePowers();
  const parts = {
    environment: powers.environment,
    disk: powers.disk,
    places: placesOf(powers.environment, undefined),
  };
  Deno.mkdirSync(join(powers.root, "desk"));
  Deno.symlinkSync(join(powers.root, "desk"), join(powers.environment.cwd, "l"));
  const mount = resolveMount({ name: "desk", dir: "l", mode: "stage" }, parts);
  assert.equal(mount.dir, join(powers.root, "desk"));
  Deno.writeTextFileSync(join(powers.root, "file"), "");
  for (const dir of ["../file", "../nothing"]) {
    assert.throws(() => resolveMount({ name: "x", dir, mode: "ro" }, parts), fault("notFound"));
  }
});
