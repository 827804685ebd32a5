import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { compiledModule, type HostCall, runModule } from "../../build/_fixture/run_module.ts";

const module = await compiledModule("tools-wasm/sdk/as/_fixture");
const instance = (host: HostCall = () => null) => runModule(module, host);

Deno.test("any JSON that goes into a plugin comes out as it was", async () => {
  const { call } = await instance();
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ noUnicodeString: false, maxDepth: 6 }), async (value) => {
      const wanted = JSON.parse(JSON.stringify(value).replace(/-0(?![.\d])/g, "0"));
      const { value: said } = await call("echo", { value });
      sameWithinRounding(said, wanted);
    }),
    { numRuns: 500 },
  );
});

/** Fails where two values differ by more than the last digits of numbers, which AssemblyScript rounds in its own way. */
function sameWithinRounding(said: unknown, wanted: unknown): void {
  if (typeof said === "number" && typeof wanted === "number") {
    const most = 1e-11 * Math.max(Math.abs(said), Math.abs(wanted));
    return ok(Math.abs(said - wanted) <= most, `${said} is not ${wanted}`);
  }
  if (!isParts(said) || !isParts(wanted)) return deepStrictEqual(said, wanted);
  deepStrictEqual([Array.isArray(said), Object.keys(said)], [
    Array.isArray(wanted),
    Object.keys(wanted),
  ]);
  for (const key of Object.keys(wanted)) sameWithinRounding(said[key], wanted[key]);
}

function isParts(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

Deno.test("strings of every code point keep them, and half a pair becomes U+FFFD", async () => {
  const { call, raw } = await instance();
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", maxLength: 40 }), async (value) => {
      deepStrictEqual((await call("echo", { value })).value, value);
    }),
    { numRuns: 500 },
  );
  const halves = String
    .raw`{"v":1,"op":"echo","args":{"value":"\ud800 \udc00\ud83d\ude42 \ud83dx"}}`;
  strictEqual(JSON.parse(await raw(halves)).value, "\ufffd \ufffd\u{1f642} \ufffdx");
});

const BROKEN = [
  "",
  "{",
  "nul",
  '{"v":1}',
  '{"op":"echo","args":[]}',
  '{"op":"echo","args":{"value":01}}',
  '{"op":"echo","args":{"value":1.}}',
  '{"op":"echo","args":{"value":+1}}',
  '{"op":"echo","args":{"value":"\t"}}',
  '{"op":"echo","args":{"value":"\\x"}}',
  '{"op":"echo","args":{"value":"\\u12"}}',
  '{"op":"echo","args":{}} x',
  '{"op":"echo","op":"echo","args":{}}',
  '{"op":"echo","args":{"value":[1,]}}',
  '{"op":"echo","args":{"value":1,}}',
  '{"op":"echo","args":{"value":"a}}',
  `{"op":"echo","args":{"value":${"[".repeat(100)}${"]".repeat(100)}}}`,
];

Deno.test("an input that is no call is told so, and the next call is served", async () => {
  const { call, raw } = await instance();
  for (const input of BROKEN) {
    strictEqual(JSON.parse(await raw(input)).error?.code, "badFrame", input);
    deepStrictEqual((await call("echo", { value: 1 })).value, 1);
  }
});

Deno.test("any bytes at all are answered with an envelope", async () => {
  const { raw } = await instance();
  const piece = fc.constantFrom(
    '{"v":1,',
    '"op":',
    '"echo"',
    ',"args":',
    "{",
    "}",
    '"value":',
    "1",
    '"',
    "\\u",
    "\ud83d",
    ",",
    "[",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      const said = JSON.parse(await raw(pieces.join("")));
      strictEqual(typeof said.ok, "boolean");
    }),
    { numRuns: 500 },
  );
});

Deno.test("a tool that a plugin does not have is unknown", async () => {
  strictEqual((await (await instance()).call("nothing", {})).error?.code, "unknownTool");
});

Deno.test("a host function's value and its fault reach the plugin as they are", async () => {
  const asked: unknown[] = [];
  const given = await instance((call) => {
    asked.push(call);
    return { ok: true, value: { text: "ä\n" } };
  });
  deepStrictEqual((await given.call("ask", {})).value, { text: "ä\n" });
  deepStrictEqual(asked, [{ fn: "fs.read", args: { path: "desk/é" } }]);
  const refused = await instance(() => ({
    ok: false,
    error: { code: "refused", message: "no\u0000" },
  }));
  deepStrictEqual((await refused.call("ask", {})).error, {
    code: "refused",
    message: "host said: no\u0000",
  });
});

Deno.test("a host that answers nonsense is a fault and no crash", async () => {
  for (const nonsense of [null, 7, {}, [], { ok: 1 }, { ok: false }, { ok: false, error: 3 }]) {
    const { ok: done, error } = await (await instance(() => nonsense)).call("ask", {});
    ok(
      !done && error !== undefined && ["badFrame", "upstream"].includes(error.code),
      JSON.stringify(nonsense),
    );
  }
});

Deno.test("a bug in a plugin ends its instance and says where it was", async () => {
  const { call } = await instance();
  await rejects(call("abort", {}), (error: Error) => {
    match(String(error), /unreachable|Index out of range/);
    return true;
  });
});

Deno.test("a megabyte of text goes through in one piece", async () => {
  const { call } = await instance();
  const value = 'ä"\n'.repeat(300_000);
  strictEqual((await call("bytes", { value })).value, 4 * 300_000);
  strictEqual((await call("echo", { value })).value, value);
});
