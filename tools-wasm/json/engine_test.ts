import assert from "node:assert/strict";
import { makeInstance } from "../exec/_fixture/instance.ts";
import { bundleScript } from "../sdk/ts/bundle.ts";

const source = bundleScript(new URL(".", import.meta.url).pathname);

async function call(tool: string, args: Readonly<Record<string, unknown>>) {
  const instance = await makeInstance((fn, asked) => {
    if (fn !== "fs.read") return null;
    return { text: `id,n\n${asked["path"]},2\n`, bytes: 1, next: 1 };
  });
  try {
    assert.equal((await instance.call("@load", { source: await source })).ok, true);
    return await instance.call(tool, args);
  } finally {
    await instance.close();
  }
}

Deno.test("in the engine, alice asks a file, converts a text and checks a value", async () => {
  const asked = await call("json_select", {
    path: "desk/a.csv",
    filter: ".[] | {id, n: (.n | tonumber)}",
  });
  assert.deepEqual(asked.value, { results: [{ id: "desk/a.csv", n: 2 }], more: false });
  const written = await call("json_transform", { text: '{"a":[1,{"b":"é"}]}', to: "yaml" });
  assert.deepEqual(written.value, { format: "yaml", text: "a:\n  - 1\n  - b: é\n" });
  const read = await call("json_select", {
    text: "[t]\nd = 2026-01-02T03:04:05Z\n",
    format: "toml",
    filter: ".t.d",
  });
  assert.deepEqual(read.value, { results: ["2026-01-02T03:04:05.000Z"], more: false });
  const checked = await call("json_validate", {
    text: '"ab"',
    schema: { pattern: "^\\p{L}+$", maxLength: 1 },
  });
  assert.deepEqual(checked.value, {
    valid: false,
    errors: [{ at: "", rule: "/maxLength", message: "must have at most 1 characters, and has 2" }],
    count: 1,
  });
});

for (
  const [what, args, code] of [
    ["deep brackets", { text: "1", filter: "(".repeat(5_000) }, "invalidArguments"],
    ["deep JSON", { text: "[".repeat(100_000) }, "tooLarge"],
    ["deep YAML", { text: "- ".repeat(5_000), format: "yaml" }, "tooLarge"],
    ["deep TOML", { text: `a${".a".repeat(5_000)} = 1`, format: "toml" }, "tooLarge"],
    ["calls without end", { text: "1", filter: "def f(g): f(g | g); f(.)" }, "tooLarge"],
    [
      "a text without end",
      { text: "1", filter: 'reduce range(99) as $i ("x"; . + .)' },
      "tooLarge",
    ],
    ["an array without end", { text: "1", filter: "[range(1e9)]" }, "tooLarge"],
  ] as const
) {
  Deno.test(`in the engine, mallory's ${what} is refused with a code, and the stack holds`, async () => {
    assert.equal((await call("json_select", args)).error?.code, code);
  });
}

Deno.test("in the engine, what is as deep as is taken goes through every part", async () => {
  const deep = `${"[".repeat(128)}${"]".repeat(128)}`;
  for (
    const filter of [
      "[..] | length",
      "walk(.) | [paths] | length",
      "tojson | fromjson | flatten | length",
      "(..) |= . | [..] | sort | unique | length",
    ]
  ) {
    assert.equal((await call("json_select", { text: deep, filter })).ok, true, filter);
  }
  for (const to of ["yaml", "json"]) {
    assert.equal((await call("json_transform", { text: deep, to })).ok, true, to);
  }
});
