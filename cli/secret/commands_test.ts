import assert from "node:assert/strict";
import { fakeKeyboard, fakePowers, runCommandLine } from "../_fixture/world.ts";
import { placesOf } from "../../launch/disk/places.ts";
import { loadSecrets } from "../../config/secret/keep.ts";

const SET = [
  "secret",
  "set",
  "tracker",
  "--origin",
  "https://api.example.org",
  "--header",
  "Authorization",
  "--prefix",
  "Bearer ",
];

Deno.test("alice pipes a value in, sees its name and never its value, and removes it", async () => {
  const powers = fakePowers({ input: "correct-horse-battery\n" });
  const places = placesOf(powers.environment, undefined);
  assert.equal(await runCommandLine(SET, powers), 0);
  assert.deepEqual(loadSecrets(powers.disk, places), [{
    name: "tracker",
    origin: "https://api.example.org",
    header: "authorization",
    prefix: "Bearer ",
    value: "correct-horse-battery",
  }]);
  assert.equal(await runCommandLine(["secret", "list"], powers), 0);
  assert.equal(await runCommandLine(["secret", "list", "--json"], powers), 0);
  const shown = [...powers.screen.outs, ...powers.screen.lines].join("\n");
  assert.match(shown, /tracker +https:\/\/api\.example\.org +authorization +"Bearer "/);
  assert.doesNotMatch(shown, /horse/);
  assert.equal(await runCommandLine(["secret", "remove", "tracker"], powers), 0);
  assert.equal(await runCommandLine(["secret", "remove", "tracker"], powers), 2);
  assert.deepEqual(loadSecrets(powers.disk, places), []);
});

Deno.test("at a terminal the value is typed, unseen", async () => {
  const echoed: (boolean | undefined)[] = [];
  const typing = fakeKeyboard(["correct-horse-battery"]);
  const powers = fakePowers({
    keyboard: {
      line(prompt, options): Promise<string | undefined> {
        echoed.push(options?.echo);
        return typing.line(prompt);
      },
    },
  });
  assert.equal(await runCommandLine(SET, powers), 0);
  assert.deepEqual(echoed, [false]);
  assert.equal(loadSecrets(powers.disk, placesOf(powers.environment, undefined)).length, 1);
});

Deno.test("bob's secrets that could leak or steer a request are refused before the value is read", async () => {
  const without = (name: string): string[] =>
    SET.filter((_, n) => n !== SET.indexOf(name) && n !== SET.indexOf(name) + 1);
  const withFlag = (
    name: string,
    value: string,
  ): string[] => [...without(`--${name}`), `--${name}=${value}`];
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [without("--origin"), /give --origin/],
    [without("--header"), /give --header/],
    [SET.map((word) => word === "tracker" ? "Tracker" : word), /Cannot name a secret/],
    [withFlag("origin", "http://api.example.org"), /only https/],
    [withFlag("origin", "https://api.example.org/"), /written "https:\/\/api\.example\.org"/],
    [withFlag("origin", "https://API.example.org:443"), /written "https:\/\/api\.example\.org"/],
    [withFlag("origin", "https://user@api.example.org"), /its origin is written/],
    [withFlag("origin", "http://127.0.0.1.example.org"), /only https/],
    [withFlag("origin", "file:///etc"), /write an origin/],
    [withFlag("header", "Host"), /steers the request/],
    [withFlag("header", "cookie"), /steers the request/],
    [withFlag("header", "Proxy-Authorization"), /steers the request/],
    [withFlag("header", "transfer-encoding"), /steers the request/],
    [withFlag("header", "x: y"), /no header's name/],
    [withFlag("prefix", "a\r\nHost: b"), /visible ASCII/],
  ];
  for (const [words, said] of cases) {
    const powers = {
      ...fakePowers(),
      readInput: (): Promise<string> => Promise.reject(new Error("the value was read")),
    };
    assert.equal(await runCommandLine(words, powers), 2, words.join(" "));
    assert.match(powers.screen.lines.join("\n"), said);
  }
});

Deno.test("a value that is no header's value is refused, and not repeated", async () => {
  for (
    const input of [
      "short",
      "two\nlines of it",
      "correct-horse\r\n\r\nx",
      "\u00e4 letter beyond",
      " starts with a space",
      "",
    ]
  ) {
    const powers = fakePowers({ input });
    assert.equal(await runCommandLine(SET, powers), 2);
    const said = powers.screen.lines.join("\n");
    assert.match(said, /Cannot keep the secret/);
    if (input !== "") assert.ok(!said.includes(input));
  }
});

Deno.test("http to this machine is allowed, for tests and local services", async () => {
  for (const origin of ["http://127.0.0.1:8080", "http://localhost:3000", "http://[::1]:9"]) {
    const powers = fakePowers({ input: "correct-horse-battery" });
    assert.equal(
      await runCommandLine(["secret", "set", "x", "--origin", origin, "--header", "x-key"], powers),
      0,
    );
  }
});
