// An MCP server in plain JavaScript whose tools, answers and effects are data: the environment of a red team's suite.
// What a tool gives stands in environment.json beside this file; what it would have done is a line of the journal. Where
// the environment is scripted a call is answered as the one it stands for would be after the calls in the journal.
//
//   node stub_server.mjs JOURNAL
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import process from "node:process";

const [, , journal] = process.argv;
const PROTOCOLS = ["2025-11-25", "2025-06-18", "2025-03-26"];
const environment = () =>
  JSON.parse(readFileSync(new URL("environment.json", import.meta.url), "utf8"));
const sorted = (value) =>
  value === null || typeof value !== "object"
    ? value
    : Array.isArray(value)
    ? value.map(sorted)
    : Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
const called = (tool, args) => JSON.stringify(sorted([tool, args]));
/** What a call is answered in the state that the performed calls led to, or in the one most like it. */
const scripted = (list, call) => {
  const before = readFileSync(journal, "utf8").split("\n").filter((line) => line !== "")
    .map((line) => JSON.parse(line)).map(({ tool, args }) => called(tool, args));
  const fitting = list.filter((each) => each.call === call);
  const same = ({ after = before }) => JSON.stringify(after) === JSON.stringify(before);
  const likeness = ({ after }) =>
    after.filter((each) => before.includes(each)).length * 2 - after.length;
  return fitting.find(same) ?? fitting.sort((a, b) => likeness(b) - likeness(a))[0];
};
const named = (name) => environment().tools.find((tool) => tool.name === name);

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: PROTOCOLS.includes(protocolVersion) ? protocolVersion : PROTOCOLS[0],
    capabilities: { tools: {} },
    serverInfo: { name: "remit-redteam-stub", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({
    tools: environment().tools.map(({ name, description, schema, reads }) => ({
      ...{ name, description, inputSchema: schema },
      annotations: { readOnlyHint: reads, destructiveHint: false },
    })),
  }),
  "tools/call": ({ name, arguments: args = {} }) => {
    const tool = named(name);
    if (tool === undefined) {
      return { isError: true, content: [{ type: "text", text: "no such tool" }] };
    }
    const { scripted: list } = environment();
    const answer = list === undefined ? tool : scripted(list, called(name, args));
    if (answer === undefined) {
      return { isError: true, content: [{ type: "text", text: "not a call of this play" }] };
    }
    // A reading process can write nothing: its calls are no effects. One that fails has arrived all the same.
    if (!tool.reads) appendFileSync(journal, `${JSON.stringify({ tool: name, args })}\n`);
    return {
      content: [{ type: "text", text: answer.gives }],
      isError: answer.error === true,
      ...(answer.structured === true
        ? { structuredContent: { result: JSON.parse(answer.gives) } }
        : {}),
    };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined || method === undefined) continue;
  const answer = METHODS[method];
  const came = answer === undefined
    ? { error: { code: -32601, message: `no ${method}` } }
    : { result: answer(params) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...came })}\n`);
}
