import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import fc from "fast-check";
import { TaskId } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import { NAMES_MOST, type Reference } from "../../../contracts/exchange/mod.ts";
import type { Store } from "../../../contracts/task/mod.ts";
import { memoryLog } from "../../_fixture/fakes.ts";
import {
  makeNamesStore,
  namedAt,
  NO_NAMES,
  parsePath,
  withMoved,
  withNamed,
  withoutNamed,
} from "./names.ts";

const FIVE: Reference = { kind: "value", json: "5", colour: "BLUE", label: "public" };
const TASK = TaskId.parse("t000000000001");
const BY = { colour: "BLUE", label: "public" } as const;
const coded = (code: string) => (error: unknown) => error instanceof Fault && error.code === code;

Deno.test("alice gives, moves and takes names; a move is both or neither", () => {
  const tools = withNamed(NO_NAMES, parsePath("tools"), NO_NAMES);
  const five = withNamed(tools, parsePath("tools/five"), FIVE);
  deepEqual(namedAt(five, parsePath(["tools", "five"])), FIVE);
  const moved = withMoved(five, parsePath("tools/five"), parsePath("fünf".replace("ü", "u")));
  equal(namedAt(moved, parsePath("tools/five")), undefined);
  deepEqual(namedAt(moved, parsePath("funf")), FIVE);
  throws(
    () => withMoved(five, parsePath("tools"), parsePath("tools/within")),
    coded("invalidArguments"),
  );
  throws(() => withMoved(five, parsePath("tools/five"), parsePath("none/five")), coded("notFound"));
  deepEqual(namedAt(five, parsePath("tools/five")), FIVE);
  throws(() => withoutNamed(five, parsePath("six")), coded("notFound"));
});

Deno.test("SELF, HOST and AGENT are nobody's to remove, to move or to give", () => {
  for (const name of ["SELF", "HOST", "AGENT"]) {
    throws(() => withoutNamed(NO_NAMES, parsePath(name)), coded("refused"));
    throws(() => withMoved(NO_NAMES, parsePath(name), parsePath("mine")), coded("refused"));
    throws(() => withNamed(NO_NAMES, parsePath(name), FIVE), coded("refused"));
    throws(() => withNamed(NO_NAMES, parsePath([name, "within"]), FIVE), coded("refused"));
  }
});

Deno.test("a name with other characters than letters and digits is none", () => {
  for (const bad of ["", "a//b", "../up", "tab\there", "ev\u200bil", "x".repeat(65), 7, ["a", 1]]) {
    throws(() => parsePath(bad), coded("invalidArguments"));
  }
  throws(() => parsePath(Array(NAMES_MOST.depth + 1).fill("a")), coded("invalidArguments"));
});

Deno.test("names of every word are just names: none reaches what an object inherits", () => {
  const inherited = fc.constantFrom("constructor", "toString", "hasOwnProperty", "valueOf");
  fc.assert(fc.property(inherited, (word) => {
    equal(namedAt(NO_NAMES, parsePath(word)), undefined);
    deepEqual(namedAt(withNamed(NO_NAMES, parsePath(word), FIVE), parsePath(word)), FIVE);
  }));
});

Deno.test("a directory holds so many names and no more", () => {
  const entries = Object.fromEntries(
    Array.from({ length: NAMES_MOST.names }, (_, n) => [`n${n}`, FIVE]),
  );
  throws(
    () => withNamed({ kind: "directory", entries }, parsePath("one-more"), FIVE),
    coded("tooLarge"),
  );
});

Deno.test("each agent has its own names, changes wait for each other, and a failed one leaves all as it was", async () => {
  const log = memoryLog();
  const store: Pick<Store, "document"> = {
    document: (kind, id) => {
      const row = log.documents.get(`${kind} ${id}`);
      return Promise.resolve(row && { ...row, version: row.expect + 1 });
    },
  };
  const names = makeNamesStore({ store, log });
  const alice = names.of("alice", TASK), bob = names.of("bob", TASK);
  await Promise.all(
    ["a", "b", "c"].map((name) => alice.change(BY, (now) => withNamed(now, parsePath(name), FIVE))),
  );
  deepEqual(Object.keys((await alice.look()).directory.entries), ["a", "b", "c"]);
  deepEqual((await bob.look()).directory, NO_NAMES);
  log.full = true;
  await rejects(alice.change(BY, (now) => withoutNamed(now, parsePath("a"))), coded("storeFull"));
  log.full = false;
  await rejects(alice.change(BY, (now) => withoutNamed(now, parsePath("z"))), coded("notFound"));
  await alice.change(
    { colour: "RED", label: "internal" },
    (now) => withoutNamed(now, parsePath("b")),
  );
  const again = await makeNamesStore({ store, log }).of("alice", TASK).look();
  deepEqual(Object.keys(again.directory.entries), ["a", "c"]);
  equal(again.colour, "RED");
  equal(again.label, "internal");
});
