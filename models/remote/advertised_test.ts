import { requestOf, said, tool } from "../_fixture/asking.ts";
import { toolLimits } from "../../contracts/tool/tool_limits.ts";
import { makeAdvertise, makeToolNames, wireCallId } from "./advertised.ts";
import assert from "node:assert/strict";
import fc from "fast-check";

const { tools: table } = requestOf([said("Hello.")], {
  tools: [tool("file_read"), tool("web_search")],
});

Deno.test("a table is told the same way each time, and read once", () => {
  const advertise = makeAdvertise(toolLimits("openai"));
  const first = advertise(table, []);
  assert.equal(advertise(table, ["web_search"]), first);
  assert.deepEqual(first.tools.map(({ name }) => name), [...first.offered]);
  assert.deepEqual(first.tools[0]?.schema["required"], ["path"]);
  const again = makeAdvertise(toolLimits("openai"))([...table], []);
  assert.deepEqual(again.tools, first.tools);
});

Deno.test("a call of a tool that went away has a name on the wire, and the tools keep theirs", () => {
  const advertise = makeAdvertise(toolLimits("openai"));
  const { names, offered } = advertise(table, ["gone tool", "file_read"]);
  assert.equal(names.own(names.wire("gone tool")), "gone tool");
  assert.ok(!offered.has(names.wire("gone tool")));
  assert.deepEqual(offered, advertise(table, []).offered);
});

Deno.test("a schema that is not an object is told", () => {
  const broken = [{ ...tool("a"), paramSchema: "[]" }];
  assert.throws(
    () => makeAdvertise(toolLimits("openai"))(broken, []),
    /a schema of the request is not a JSON object/,
  );
});

Deno.test("any set of names maps one to one into what every provider takes, and back", () => {
  const name = fc.oneof(
    fc.string({ maxLength: 128, unit: "binary" }),
    fc.constantFrom(
      "a",
      "a b",
      "a_b",
      "ab\u0000",
      "x".repeat(64),
      "x".repeat(65),
      "x".repeat(128),
      "",
    ),
  );
  fc.assert(fc.property(fc.array(name, { maxLength: 40 }), (names) => {
    const map = makeToolNames(names);
    const wires = [...new Set(names)].map((each) => map.wire(each));
    assert.equal(new Set(wires).size, wires.length);
    for (const each of names) {
      assert.match(map.wire(each), /^[a-zA-Z0-9_-]{1,64}$/);
      assert.equal(map.own(map.wire(each)), each);
    }
  }));
});

Deno.test("the map depends on the set alone, and names that fit stay", () => {
  const names = ["file_read", "web/search", "x".repeat(70), "web.search"];
  const [there, back] = [makeToolNames(names), makeToolNames(names.toReversed())];
  for (const each of names) assert.equal(there.wire(each), back.wire(each));
  assert.equal(there.wire("file_read"), "file_read");
  assert.notEqual(there.wire("web/search"), there.wire("web.search"));
});

Deno.test("a name that was made to look like another's mark does not take its place", () => {
  const lost = "bad name";
  const forged = makeToolNames([lost]).wire(lost);
  const both = makeToolNames([lost, forged]);
  assert.equal(both.own(both.wire(forged)), forged);
  assert.equal(both.own(both.wire(lost)), lost);
});

Deno.test("a name that was not advertised passes on, cut", () => {
  const map = makeToolNames(["file_read"]);
  assert.equal(map.own("rm_rf"), "rm_rf");
  assert.equal(map.own("y".repeat(500)).length, 128);
  assert.throws(() => map.wire("rm_rf"), TypeError);
});

Deno.test("ids of calls fit every provider, and the same id is always the same", () => {
  assert.equal(wireCallId("toolu_01A"), "toolu_01A");
  for (const id of ["call_a#2", "x".repeat(128), "!"]) {
    assert.match(wireCallId(id), /^[a-zA-Z0-9_-]{1,40}$/);
    assert.equal(wireCallId(id), wireCallId(id));
  }
  assert.notEqual(wireCallId("call_a#2"), wireCallId("call_a#3"));
});
