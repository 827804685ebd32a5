/** A plugin never takes the name of a tool of Remit's own, also of one that few tasks have. */
import { deepStrictEqual } from "node:assert/strict";
import { SCREENSHOT } from "../../browser/mod.ts";
import { RESERVED_TOOLS } from "../../tools-wasm/kit/reserved.ts";
import { RESOURCE_TOOLS } from "../../agents/mod.ts";
import { ARTIFACT_READ } from "../../kernel/power/peer/artifact_read.ts";
import { PEER_TOOLS } from "../../kernel/power/peer/peer_tools.ts";
import { TOOL_DESCRIBE } from "../../kernel/task/session/offered_tools.ts";
import { TOOL_SEARCH } from "../../kernel/task/session/tool_search.ts";
import { MEMORY_DESCRIPTORS } from "../../memory-wiki/tools/mod.ts";
import { httpFetchBinding } from "../../net/http_fetch.ts";

Deno.test("the reserved names are those of all tools that are no plugin's", () => {
  const own = [
    ...[httpFetchBinding().descriptor.name, SCREENSHOT, TOOL_SEARCH.name, TOOL_DESCRIBE.name],
    ...Object.keys(MEMORY_DESCRIPTORS),
    ...[...PEER_TOOLS, ARTIFACT_READ, ...RESOURCE_TOOLS].map(({ name }) => name),
  ];
  deepStrictEqual([...RESERVED_TOOLS].sort(), own.map(String).sort());
});
