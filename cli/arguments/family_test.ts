import assert from "node:assert/strict";
import { fakePowers } from "../_fixture/world.ts";
import type { PowerName, Powers } from "../powers.ts";
import { FAMILIES } from "./command_table.ts";
import { family } from "./family.ts";
import { parseArguments } from "./parse_arguments.ts";
import { placesOf } from "../../launch/disk/places.ts";

/** A source that remembers what it was asked for. */
function asked():
  & { readonly names: Set<string>; readonly powers: ReturnType<typeof fakePowers> }
  & {
    readonly source: <K extends PowerName>(name: K) => Promise<Powers[K]>;
  } {
  const names = new Set<string>();
  const powers = fakePowers();
  return {
    ...{ names, powers },
    source: (name) => {
      names.add(name);
      return Promise.resolve(powers[name]);
    },
  };
}

Deno.test("a family is handed the powers that it names, and can reach no other", async () => {
  const { names, powers, source } = asked();
  const rest = {
    parsed: parseArguments(["doctor"]),
    places: placesOf(powers.environment, undefined),
    json: false,
  };
  const seen: (readonly string[])[] = [];
  const narrow = family([], ["screen", "environment"], {
    doctor: () =>
      Promise.resolve((command) => {
        seen.push(Object.keys(command.powers));
        // @ts-expect-error -- the disk was not named: it is no property of this command's powers
        assert.equal(command.powers.disk, undefined);
        assert.throws(() => Object.assign(command.powers, { disk: powers.disk }), TypeError);
        return Promise.resolve(7);
      }),
  });
  assert.equal(await narrow.run("doctor", source, rest), 7);
  assert.deepEqual(seen, [["screen", "environment"]]);
  assert.deepEqual([...names], ["screen", "environment"]);
  await assert.rejects(narrow.run("toString", source, rest), /no work/);
});

Deno.test("nobody but who signs in names the login, nobody but the service its door", () => {
  const holders = (power: PowerName): readonly string[] =>
    FAMILIES.filter(({ needs }) => needs.includes(power)).map(({ spec }) => spec[0]?.name ?? "");
  assert.deepEqual(holders("login"), ["mcp add", "a2a add", "serve"]);
  assert.deepEqual(holders("backup"), ["schedule list"]);
  assert.deepEqual(holders("walls"), ["trust"]);
  assert.deepEqual(holders("receipts"), ["audit verify"]);
  for (const power of ["serve", "service", "logs", "watch"] as const) {
    assert.ok(holders(power).length <= 3, power);
  }
});
