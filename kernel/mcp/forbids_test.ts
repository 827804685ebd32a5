import { equal, match } from "node:assert/strict";
import { ImportedServer, type Mount, NO_GRANTS } from "../../contracts/mod.ts";
import { makeMcpForbids } from "./forbids.ts";
import { grantedLabel } from "../lease/grant_mounts.ts";

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
