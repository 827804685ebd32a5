import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault, type FaultCode } from "../../../../contracts/base/mod.ts";
import { needs } from "../../../../tests/needs.ts";
import { type FreshCommand, freshCommand } from "../../../../cli/_fixture/mcp_command.ts";
import {
  type FakePackage,
  type FakeRegistry,
  serveRegistry,
} from "../../../../cli/_fixture/mcp_registry.ts";
import { fetchNpm, type NpmWish, type ProvidedLaunch } from "./npm.ts";
import { NPM_KEYS, signs } from "./npm_facts.ts";
import { registryOf } from "../../../../cli/mcp/work.ts";

const HELLO = 'console.log("hello");\n';
const server = (more: Partial<FakePackage> = {}): FakePackage => ({
  ...{ name: "server", version: "1.2.3", files: { "cli.js": `#!/usr/bin/env node\n${HELLO}` } },
  manifest: { bin: "cli.js" },
  ...more,
});
const wish = (more: Partial<NpmWish> = {}): NpmWish => ({
  ...{ package: "server", wanted: "latest", args: [] },
  ...more,
});

async function withRegistry(
  packages: readonly FakePackage[],
  f: (command: FreshCommand, registry: FakeRegistry) => Promise<void>,
): Promise<void> {
  const registry = await serveRegistry(packages);
  try {
    const command = freshCommand({ env: { NPM_CONFIG_REGISTRY: registry.url } });
    await f(command, registry);
    // Whatever came of it: a draft that stays would be a tree without a name.
    const drafts = command.powers.disk.list(command.places.mcpTrees).filter((name) =>
      name.startsWith(".")
    );
    assert.deepEqual(drafts, []);
    command.powers.mcpStore.drop(join(command.places.state, "mcp"));
    Deno.removeSync(command.powers.root, { recursive: true });
  } finally {
    await registry.close();
  }
}

const fault = (code: FaultCode, said: RegExp) => (error: unknown): boolean => {
  assert.ok(error instanceof Fault, String(error));
  assert.match(`${error.code}: ${error.message}`, said);
  return error.code === code;
};

/** Runs what was fetched as a kernel would: within walls, its tree read-only, without a network. */
async function run(
  command: FreshCommand,
  { launch }: ProvidedLaunch,
  options: { readonly flags?: readonly string[]; readonly input?: string } = {},
): Promise<string> {
  assert.ok(launch.kind === "npm");
  const end = await command.powers.mcpStore.step({
    program: "/deno",
    args: [
      ...["run", "--quiet", "--no-config", "--lock=/dd/deno.lock", "--frozen", "--cached-only"],
      ...[
        "--no-prompt",
        ...(options.flags ?? []),
        `npm:${launch.package}@${launch.version}/${launch.bin ?? ""}`,
      ],
    ],
    env: {
      ...{ DENO_DIR: "/dd", NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
      ...(launch.registry === undefined ? {} : { NPM_CONFIG_REGISTRY: launch.registry }),
    },
    reads: [
      { from: command.powers.mcpStore.deno, at: "/deno" },
      { from: join(command.places.mcpTrees, launch.tree.id), at: "/dd" },
    ],
    ...(options.input === undefined ? {} : { input: options.input }),
    net: false,
    deadlineMs: 600_000,
  });
  assert.equal(end.code, 0, end.said);
  return end.out;
}

Deno.test("alice fetches a server: pinned, with all it needs, and it runs without a network", async () => {
  if (!needs("bwrap")) return;
  const parts = [
    server({
      files: { "cli.mjs": 'import { say } from "lib"; console.log(say);' },
      manifest: { bin: { server: "cli.mjs" }, dependencies: { lib: "^1.0.0" } },
    }),
    { name: "lib", version: "1.0.0", files: { "index.js": 'exports.say = "old";' } },
    { name: "lib", version: "1.4.0", files: { "index.js": 'exports.say = "from the library";' } },
    { name: "lib", version: "2.0.0", files: { "index.js": 'exports.say = "too new";' } },
  ];
  await withRegistry(parts, async (command, registry) => {
    const got = await fetchNpm(registryOf(command), wish({ args: ["a b"] }));
    const { launch } = got;
    assert.ok(launch.kind === "npm");
    assert.deepEqual([launch.version, launch.bin, launch.args], ["1.2.3", "server", ["a b"]]);
    assert.equal(launch.registry, registry.url);
    assert.deepEqual(got.packages.map(({ name, version }) => `${name}@${version}`), [
      ...["lib@1.4.0", "server@1.2.3"],
    ]);
    assert.ok(got.packages.every(({ integrity }) => integrity.startsWith("sha512-")));
    assert.equal(await run(command, got), "from the library\n");
    const before = registry.asked.length;
    // A second fetch of one version is the same tree, also when the registry knows more by now.
    const again = await fetchNpm(registryOf(command), wish({ wanted: "1.2.3" }));
    assert.ok(again.launch.kind === "npm" && registry.asked.length > before);
    assert.deepEqual(again.launch.tree, launch.tree);
    const tree = join(command.places.mcpTrees, launch.tree.id);
    assert.equal((Deno.statSync(tree).mode ?? 0) & 0o777, 0o555);
    assert.deepEqual(command.powers.disk.list(tree), ["deno.lock", "npm"]);
  });
});

Deno.test("no script of a package runs, and what asks to is named", async () => {
  if (!needs("bwrap")) return;
  const mark = join(Deno.makeTempDirSync({ prefix: "remit-script-" }), "ran");
  const scripts = Object.fromEntries(
    ["preinstall", "install", "postinstall", "prepare"].map((name) => [name, `touch ${mark}`]),
  );
  const files = { "cli.js": HELLO, "build/addon.node": "\x7fELF" };
  await withRegistry([server({ files, manifest: { bin: "cli.js", scripts } })], async (command) => {
    const { notes } = await fetchNpm(registryOf(command), wish());
    assert.match(notes.join("\n"), /server brings native code/);
    assert.match(notes.join("\n"), /server asks to run a program when it is installed/);
    assert.throws(() => Deno.statSync(mark), Deno.errors.NotFound);
  });
});

Deno.test("which program is meant: the named one, the only one, the one of the package's own name", async () => {
  if (!needs("bwrap")) return;
  const files = {
    "a.js": HELLO,
    "b.js": HELLO,
    "run.sh": "#!/bin/sh\n",
    "c": "#!/usr/bin/env node\n",
  };
  const of = (name: string, bin?: unknown): FakePackage => ({
    ...{ name, version: "1.0.0", files, manifest: bin === undefined ? {} : { bin } },
  });
  const packages = [
    of("two", { x: "a.js", y: "b.js" }),
    of("own", { own: "a.js", y: "b.js" }),
    of("same", { x: "./a.js", y: "a.js" }),
    of("none"),
    of("shell", "run.sh"),
    of("bare", "c"),
    of("out", { out: "../../../../../../etc/passwd" }),
    of("gone", "nothing.js"),
    of("@s/scoped", "a.js"),
  ];
  await withRegistry(packages, async (command) => {
    const bin = async (name: string, more: Partial<NpmWish> = {}): Promise<string | undefined> => {
      const { launch } = await fetchNpm(registryOf(command), wish({ package: name, ...more }));
      return launch.kind === "npm" ? launch.bin : undefined;
    };
    assert.equal(await bin("two", { bin: "y" }), "y");
    assert.equal(await bin("own"), "own");
    assert.equal(await bin("same"), "x");
    assert.equal(await bin("@s/scoped"), "scoped");
    assert.equal(await bin("bare"), "bare");
    await assert.rejects(
      bin("two"),
      fault("refused", /several programs.*npx -p two NAME, of x, y/),
    );
    await assert.rejects(bin("two", { bin: "z" }), fault("refused", /no program "z"/));
    await assert.rejects(bin("none"), fault("refused", /no program/));
    await assert.rejects(bin("shell"), fault("refused", /not JavaScript/));
    await assert.rejects(bin("out"), fault("refused", /not there/));
    await assert.rejects(bin("gone"), fault("refused", /not there/));
  });
});

Deno.test("mallory swaps an archive: what does not have its integrity is not kept", async () => {
  if (!needs("bwrap")) return;
  const swapped = {
    "package.json": '{"name":"server","version":"1.2.3","bin":"cli.js"}',
    "cli.js": "evil",
  };
  await withRegistry([server({ swapped })], async (command) => {
    await assert.rejects(
      fetchNpm(registryOf(command), wish()),
      fault("refused", /its integrity is another/),
    );
    assert.deepEqual(command.powers.disk.list(command.places.mcpTrees), []);
  });
});

Deno.test("signatures are recorded as given and verified; what is unverified is said, and a false one ends the fetch", async () => {
  if (!needs("bwrap")) return;
  const attestations = {
    url: "https://x.org/a",
    provenance: { predicateType: "https://slsa.dev/v1" },
  };
  const packages = [
    server({
      signed: "well",
      dist: { attestations },
      manifest: { bin: "cli.js", dependencies: { plain: "1.0.0" } },
    }),
    {
      ...{ name: "plain", version: "1.0.0", files: { "index.js": "" } },
      manifest: { deprecated: "use another\x1b[31m one" },
    },
  ];
  await withRegistry(packages, async (command) => {
    const { packages: locked, notes } = await fetchNpm(registryOf(command), wish());
    const [plain, own] = locked;
    assert.deepEqual([own?.verified, own?.signatures?.length], [true, 1]);
    assert.deepEqual(own?.attestations, {
      url: "https://x.org/a",
      predicate: "https://slsa.dev/v1",
    });
    assert.deepEqual([plain?.verified, plain?.signatures, plain?.deprecated], [
      ...[false, undefined, "use another\x1b[31m one"],
    ]);
    assert.match(notes.join("\n"), /plain@1\.0\.0 is deprecated/);
    assert.match(
      notes.join("\n"),
      /UNVERIFIED: of 1 of 2 packages \(plain\) no signature was checked/,
    );
    assert.match(
      notes.join("\n"),
      /UNVERIFIED: 1 of 2 packages .* how they were built, which was not/,
    );
  });
  const bad = server({ signed: "badly", manifest: { bin: "cli.js" } });
  await withRegistry([bad], async (command) => {
    await assert.rejects(
      fetchNpm(registryOf(command), wish()),
      fault("refused", /its signature does not fit the archive that came/),
    );
  });
});

Deno.test("the pinned keys are those that npm signs with: what it signed with each of them fits, and nothing else", () => {
  const signed = [
    {
      ...{
        name: "venv",
        version: "0.1.0",
        keyid: "SHA256:jl3bwswu80PjjokCgh0o2w5c2U4LhQAE57gj9cz1kzA",
      },
      integrity:
        "sha512-RMdeiD0OJC+S2w4931iqdi5MB9xe2T/lXZbRrHxbsmQrSA+FwhPk2bIqIwbNDCmThPgNw841Q272O6EFSYhBjQ==",
      sig:
        "MEUCICKQJCEvvV3HdhCSj3TwH9qqIWLwc0GR1m/NED/s1bPIAiEAvkTmhIDIrD4MZoI2g27+HsuxoFJhC/evORT6T2UUwSc=",
    },
    {
      ...{ name: "@hypercarrier/rarebit", version: "0.1.0-alpha.4" },
      keyid: "SHA256:DhQ8wR5APBvFHLF/+Tc+AYvPOdTpcIDqOhxsBHRwC7U",
      integrity:
        "sha512-x4CzTUQX9xwdsJzLJqIlghkfypOjwEHj0ScJXWhrdE/HyB9ISTG/vobaaWFX51tWSekSH3bczVOVSksNxH7Ixw==",
      sig:
        "MEUCIQCWX+aVCWOPantTtYewNNmc3Sw6soihJp5O6GjlzrSMtwIgIZ7eXfxUMiinVUzyE5ks2t6mP80E0DqahGLx7NOnPoI=",
    },
  ];
  for (const { keyid, sig, ...each } of signed) {
    const key = NPM_KEYS[keyid] ?? "";
    assert.ok(signs(key, sig, each), each.name);
    assert.ok(!signs(key, sig, { ...each, version: "9.9.9" }));
    assert.ok(!signs(key, sig, { ...each, integrity: `sha512-${"A".repeat(86)}==` }));
  }
});

Deno.test("what is not there, and a registry that cannot be reached, are plain sentences", async () => {
  if (!needs("bwrap")) return;
  await withRegistry([server()], async (command) => {
    await assert.rejects(
      fetchNpm(registryOf(command), wish({ package: "gone" })),
      fault("notFound", /no such package/),
    );
    await assert.rejects(
      fetchNpm(registryOf(command), wish({ wanted: "9" })),
      fault("notFound", /no such version/),
    );
  });
  const offline = freshCommand({ env: { NPM_CONFIG_REGISTRY: "http://127.0.0.1:1/" } });
  await assert.rejects(
    fetchNpm(registryOf(offline), wish()),
    fault("unavailable", /cannot be reached/),
  );
});

Deno.test("a scope with a registry of its own is not fetched from another one", async () => {
  const packages = [
    server({ manifest: { bin: "cli.js", dependencies: { "@corp/secret": "1.0.0" } } }),
    { name: "@corp/secret", version: "1.0.0", files: { "index.js": "" } },
  ];
  if (!needs("bwrap")) return;
  await withRegistry(packages, async (command) => {
    Deno.writeTextFileSync(
      join(command.powers.root, ".npmrc"),
      "//x/:_authToken=hush\n@corp:registry = https://corp.example/\n",
    );
    for (const name of ["@corp/secret", "server"]) {
      await assert.rejects(
        fetchNpm(registryOf(command), wish({ package: name })),
        fault("unavailable", /@corp\/secret.*@corp alone/),
      );
    }
  });
});

Deno.test("mallory's archive names files outside of its package: nothing lies there", async () => {
  if (!needs("bwrap")) return;
  const files = {
    "cli.js": HELLO,
    "../../../../../evil.js": "evil",
    "../../lib/1.0.0/index.js": "evil",
    "/dd/deno.lock": "evil",
  };
  await withRegistry([server({ files })], async (command) => {
    try {
      const { launch } = await fetchNpm(registryOf(command), wish());
      assert.ok(launch.kind === "npm");
      const tree = join(command.places.mcpTrees, launch.tree.id);
      for (const { path } of command.powers.mcpStore.files(tree)) {
        assert.match(path, /^(?:deno\.lock|npm\/[^/]+\/server\/1\.2\.3\/.*)$/);
      }
      assert.doesNotMatch(Deno.readTextFileSync(join(tree, "deno.lock")), /evil/);
    } catch (error) {
      // That Deno refuses such an archive is as well.
      assert.ok(error instanceof Fault, String(error));
    }
  });
});

Deno.test("the real thing: server-filesystem from the operator's registry, exact, and it answers", async () => {
  if (!needs("bwrap")) return;
  const command = freshCommand();
  const got = await fetchNpm(
    registryOf(command),
    wish({ package: "@modelcontextprotocol/server-filesystem", wanted: "2026.8.31", args: [] }),
  );
  assert.ok(got.launch.kind === "npm" && got.launch.bin === "mcp-server-filesystem");
  assert.ok(got.packages.length > 50 && got.launch.tree.files > 1_000);
  const hello = {
    ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
    params: {
      protocolVersion: "2025-11-25",
      capabilities: { roots: {} },
      clientInfo: { name: "t", version: "0" },
    },
  };
  const answer = await run(command, got, { flags: ["-A"], input: `${JSON.stringify(hello)}\n` });
  assert.match(answer, /"serverInfo":\{"name":"secure-filesystem-server"/);
  command.powers.mcpStore.drop(join(command.places.mcpTrees, got.launch.tree.id));
});
