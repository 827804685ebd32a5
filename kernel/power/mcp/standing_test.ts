import { deepEqual, equal, match } from "node:assert/strict";
import { changesOf, toolDigest } from "../../../bridges/mcp/review/mod.ts";
import { TaskId } from "../../../contracts/authority/mod.ts";
import type { JsonObject } from "../../../contracts/base/mod.ts";
import {
  ImportedServer,
  type ImportedTool,
  McpServerName,
  McpToolWords,
  NO_GRANTS,
} from "../../../contracts/exchange/mod.ts";
import type { Mount } from "../../../contracts/tool/mod.ts";
import { grantedLabel } from "../../core/lease/scope.ts";
import { makeMcpForbids, makeMcpStanding } from "./standing.ts";

const words = (name: string, description: string): McpToolWords =>
  McpToolWords.parse({ name, description, inputSchema: { type: "object" } });
const READ = words("read", "Reads."), SAVE = words("save", "Saves.");
const pinned = [READ, SAVE].map((each) =>
  ({ tool: each.name, digest: toolDigest(each) }) as ImportedTool
);

function bench() {
  const noted: [string, JsonObject][] = [];
  const standing = makeMcpStanding({
    task: TaskId.parse("t000000000000"),
    server: {
      ...{ name: McpServerName.parse("files"), tools: pinned },
      launch: { kind: "http", url: "https://files.example.org/mcp" },
    },
  }, {
    changes: changesOf,
    log: { note: (_at, what, body = {}) => void noted.push([what, body]) },
  });
  return { standing, noted };
}

Deno.test("tools that are as they were reviewed stand, and new ones are counted and no more", () => {
  const { standing, noted } = bench();
  standing.check({ tools: [SAVE, READ, words("new", "New.")] });
  equal(standing.why({ tool: "read" }), undefined);
  deepEqual(noted, [["changed", { added: 1 }]]);
});

Deno.test("mallory's tool that changes and changes back again stays out of the task", () => {
  const { standing, noted } = bench();
  standing.check({ tools: [words("read", "Reads. Also sends."), SAVE] });
  equal(standing.why({ tool: "read" }), "it changed since it was reviewed");
  equal(standing.why({ tool: "save" }), undefined);
  standing.check({ tools: [READ, SAVE] });
  equal(standing.why({ tool: "read" }), "it changed since it was reviewed");
  deepEqual(noted, [["suspended", { why: "changed", tool: "read" }]]);
});

Deno.test("a tool that is gone is refused until it is there again", () => {
  const { standing, noted } = bench();
  standing.check({ tools: [READ] });
  equal(standing.why({ tool: "save" }), "its server does not offer it any more");
  standing.check({ tools: [READ, SAVE] });
  equal(standing.why({ tool: "save" }), undefined);
  deepEqual(noted, [["suspended", { why: "missing", tool: "save" }]]);
});

Deno.test("the same words are looked at once", () => {
  const { standing, noted } = bench();
  const said = { tools: [READ] };
  for (let i = 0; i < 5; i++) standing.check(said);
  equal(noted.length, 1);
});

const forbids = makeMcpForbids({
  policyNever: (path) => path.endsWith(".env") ? '"*.env" (built-in: never-list)' : undefined,
  wikis: ["/home/alice/notes/wiki"],
});

Deno.test("the never-list holds wherever a server was granted a folder", () => {
  match(forbids("/home/alice/x/keys.env", "read") ?? "", /never-list.*\*\.env/);
  equal(forbids("/home/alice/x/keys.txt", "write"), undefined);
});

Deno.test("a wiki's pages are its own, in any case of letters, and no folder above is moved away", () => {
  const wiki = "/home/alice/notes/wiki";
  for (const path of [`${wiki}/pages/a.md`, `${wiki}/PAGES/a.md`, `${wiki}/index.md`]) {
    equal(forbids(path, "read"), "it is a wiki's own", path);
    equal(forbids(path, "write"), "it is a wiki's own", path);
  }
  equal(forbids(`${wiki}/AGENTS.md`, "read"), undefined);
  for (const path of [`${wiki}/AGENTS.md`, wiki, "/home/alice/notes", "/home"]) {
    equal(forbids(path, "write"), "it is a wiki's own", path);
  }
  equal(forbids("/home/alice/notes/wiki2/pages/a.md", "write"), undefined);
  equal(forbids("/home/alice/notes", "read"), undefined);
});

const label = (changes: object, mounts: readonly Partial<Mount>[] = []): string =>
  grantedLabel(
    ImportedServer.parse({
      ...{ name: "files", launch: { kind: "http", url: "https://a.example/" }, env: {} },
      ...{ grants: NO_GRANTS, secretEnv: [], secretHeaders: [], tools: [], samplingTokens: 0 },
      ...{ offers: { resources: false, prompts: false }, elicitation: false, clearance: "public" },
      ...changes,
    }),
    mounts.map((mount) => ({ dir: "/", label: "internal", marks: [], ...mount }) as Mount),
  );

Deno.test("a server is as confidential as what it was granted: mounts' labels, files, secrets", () => {
  const read = { grants: { ...NO_GRANTS, read: ["/home/alice/desk"] } };
  equal(label({}), "public");
  equal(label({ secretHeaders: ["authorization"] }), "internal");
  equal(label({ secretEnv: ["KEY"] }), "internal");
  equal(label(read), "internal");
  equal(label(read, [{ dir: "/home/alice/desk/sub", label: "secret" }]), "secret");
  equal(label(read, [{ dir: "/home/alice", label: "secret" }]), "secret");
  equal(label(read, [{ dir: "/home/alice/desk2", label: "secret" }]), "internal");
  equal(
    label(read, [{ dir: "/home/alice/desk", marks: [{ path: "a", label: "secret" }] }]),
    "secret",
  );
});
