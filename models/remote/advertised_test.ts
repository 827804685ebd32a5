import assert from "node:assert/strict";
import { requestOf, said, tool } from "../_fixture/asking.ts";
import { toolLimits } from "../../contracts/tool_limits.ts";
import { makeAdvertise } from "./advertised.ts";

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
