import assert from "node:assert/strict";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import { lineOfStore } from "./store_line.ts";
import type { Walls } from "./walls.ts";

const CONFIG = {
  dir: "/state/kernel",
  programs: { deno: "/usr/bin/deno", bwrap: "/usr/bin/bwrap", setpriv: "/usr/bin/setpriv" },
  bundles: { store: "/cache/store-1/store.js" },
} as unknown as KernelConfig;
const ALL: Walls = {
  ...{ bwrap: true, filter: true, setpriv: true, prlimit: true, nice: true, storage: true },
};

for (const walls of [ALL, { ...ALL, bwrap: false }]) {
  const where = walls.bwrap ? "in a namespace" : "without a namespace";

  Deno.test(`the store process ${where} may reach one host and port, and no file`, () => {
    const { args } = lineOfStore(CONFIG, walls, { host: "db.example", port: 5433 });
    const rights = args.filter((word) => /^--(allow|deny)-/.test(word)).toSorted();
    assert.deepEqual(rights, [
      "--allow-net=db.example:5433",
      ...["--deny-ffi", "--deny-import", "--deny-read", "--deny-run", "--deny-sys", "--deny-write"],
    ]);
    assert.ok(!args.join(" ").includes("postgres://"), "its password is in no list of processes");
    assert.equal(args.includes("--share-net"), walls.bwrap);
  });

  Deno.test(`the store process ${where} may reach one socket, and then no network`, () => {
    const { args } = lineOfStore(CONFIG, walls, { host: "/run/postgresql", port: 5432 });
    const socket = "/run/postgresql/.s.PGSQL.5432";
    const rights = args.filter((word) => /^--(allow|deny)-/.test(word)).toSorted();
    assert.deepEqual(rights, [
      ...[`--allow-net=unix:${socket}`, `--allow-read=${socket}`, `--allow-write=${socket}`],
      ...["--deny-ffi", "--deny-import", "--deny-run", "--deny-sys"],
    ]);
    assert.ok(!args.includes("--share-net"));
  });
}

Deno.test("a folder with a comma, which Deno reads as a separator, is refused", () => {
  assert.throws(() => lineOfStore(CONFIG, ALL, { host: "/run/a,b", port: 1 }), TypeError);
});
