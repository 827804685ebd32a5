import assert from "node:assert/strict";
import { bearerChallenge } from "./discover.ts";
import { processorTime } from "../../../../tests/fake/processor_time.ts";

const META = "https://mcp.example/.well-known/oauth-protected-resource";

Deno.test("the parts of a Bearer challenge are read, quoted or not, in any order, among others", () => {
  const both = { resourceMetadata: META, scope: "a b" };
  const headers = [
    `Bearer resource_metadata="${META}", scope="a b"`,
    `bearer scope="a b",resource_metadata="${META}"`,
    `BEARER realm="x, y=z", error="invalid_token", Scope="a b" , Resource_Metadata = "${META}"`,
    `Basic realm="Bearer scope=no", Bearer scope="a b", resource_metadata="${META}"`,
    `Bearer scope="a \\b", resource_metadata="${META}", Digest realm="x", scope="later"`,
  ];
  for (const header of headers) assert.deepEqual(bearerChallenge(header), both, header);
  assert.deepEqual(bearerChallenge("Bearer scope=read"), { scope: "read" });
});

Deno.test("what is no Bearer challenge, does not read, or says a thing twice tells nothing", () => {
  const nothing = [
    ...[undefined, "", "Bearer", "Basic realm=x", "Negotiate", "scope=a", ",,,", "=", "Bearer ="],
    ...[`Bearer scope="never ends`, `Bearer ${"x".repeat(9_000)}`, `Basic scope="a"`],
  ];
  for (const header of nothing) assert.deepEqual(bearerChallenge(header), {}, header ?? "none");
  assert.deepEqual(bearerChallenge(`Bearer scope=a, scope=b`), { scope: "" });
});

Deno.test("a long header of mallory's is read in time that grows with its length alone", () => {
  const begun = processorTime();
  for (const part of ['a="', "a=,", "a a ", '\\"', "===", " \t", "a=b,"]) {
    bearerChallenge(`Bearer ${part.repeat(8_000 / part.length)}`);
  }
  assert.ok(processorTime() - begun < 10_000);
});
