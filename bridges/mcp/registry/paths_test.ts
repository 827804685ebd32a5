import assert from "node:assert/strict";
import { type McpAccess, NO_GRANTS } from "../../../contracts/exchange/mod.ts";
import { pathsIn, propose } from "./paths.ts";

const asked = (permission: McpAccess["permission"], value: string | null): McpAccess => ({
  ...{ permission, value, allowed: false, times: 1 },
});
const nothing = { accesses: [], tools: [], given: NO_GRANTS, env: [] };

Deno.test("folders that the arguments name are proposed to be read, and nothing that was granted already", () => {
  const proposal = propose({
    ...nothing,
    named: ["/home/me/notes", "/home/me/notes", "/home/me/mail", "/home/me/desk/a"],
    given: { read: ["/home/me/mail"], write: ["/home/me/desk"], net: [] },
  });
  assert.deepEqual(proposal.read, ["/home/me/notes"]);
});

Deno.test("mallory asks for /etc/passwd, programs and everything: none of it is proposed", () => {
  const proposal = propose({
    ...nothing,
    named: [],
    accesses: [
      asked("read", "/etc/passwd"),
      asked("write", "/home/me"),
      asked("run", null),
      asked("net", null),
      asked("net", "evil\u202e.test"),
      asked("ffi", null),
      asked("env", null),
      asked("env", "LD_PRELOAD"),
      asked("env", "NODE_OPTIONS"),
    ],
  });
  assert.deepEqual(proposal, { read: [], writers: false, net: [], env: [] });
});

Deno.test("hosts and variables that it asked for are named once, those that every library asks for are not", () => {
  const proposal = propose({
    ...nothing,
    named: [],
    env: ["REGION"],
    accesses: [
      asked("net", "API.example.org"),
      asked("net", "api.example.org:443"),
      asked("net", "db.example.org:5432"),
      ...["WEATHER_KEY", "WEATHER_KEY", "REGION", "DEBUG", "NODE_ENV", "TERM", "npm_config_x"].map((
        name,
      ) => asked("env", name)),
    ],
  });
  assert.deepEqual(proposal.net, ["api.example.org:443", "db.example.org:5432"]);
  assert.deepEqual(proposal.env, ["WEATHER_KEY"]);
});

Deno.test("a server writes unless each of its tools says that it reads", () => {
  const tool = (readOnlyHint?: boolean) => ({
    ...{ name: "t", inputSchema: {} },
    ...(readOnlyHint === undefined ? {} : { annotations: { readOnlyHint } }),
  });
  const writers = (...tools: ReturnType<typeof tool>[]): boolean =>
    propose({ ...nothing, named: [], tools }).writers;
  assert.equal(writers(tool(true), tool(true)), false);
  assert.equal(writers(tool(true), tool()), true);
  assert.equal(writers(tool(false)), true);
});

Deno.test("paths are found where arguments name them: alone, behind a flag, relative", () => {
  const args = [
    "/a",
    "--root=/b",
    "-d=~/c",
    "./d",
    "..",
    "~",
    "notes",
    "--verbose",
    "x=/y",
    "https://a.test/b",
  ];
  assert.deepEqual(pathsIn(args), ["/a", "/b", "~/c", "./d", "..", "~"]);
});
