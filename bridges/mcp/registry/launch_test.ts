import assert from "node:assert/strict";
import { launchOf, type McpWish, splitWords } from "./launch.ts";

const of = (line: string): McpWish => launchOf(line.split(" "));
const npm = (name: string, wanted: string, args: string[] = [], bin?: string): McpWish => ({
  ...{ kind: "npm", package: name, wanted, args },
  ...(bin === undefined ? {} : { bin }),
});

Deno.test("the ways in which people start an npm server come to the same thing", () => {
  const server = npm("@scope/server", "1.2.3", ["~/desk", "--flag"]);
  for (
    const line of [
      "npx -y @scope/server@1.2.3 ~/desk --flag",
      "npx --yes --quiet -- @scope/server@1.2.3 ~/desk --flag",
      "/usr/local/bin/npx @scope/server@1.2.3 ~/desk --flag",
      "npx.cmd -y @scope/server@1.2.3 ~/desk --flag",
      "cmd /c npx -y @scope/server@1.2.3 ~/desk --flag",
      "npm exec -y @scope/server@1.2.3 -- ~/desk --flag",
      "npm x -y @scope/server@1.2.3 ~/desk --flag",
      "bunx --bun @scope/server@1.2.3 ~/desk --flag",
      "bun x @scope/server@1.2.3 ~/desk --flag",
      "pnpm dlx @scope/server@1.2.3 ~/desk --flag",
      "yarn dlx @scope/server@1.2.3 ~/desk --flag",
      "deno run -A npm:@scope/server@1.2.3 ~/desk --flag",
      "deno run --allow-read=/a --allow-env npm:@scope/server@1.2.3 ~/desk --flag",
    ]
  ) assert.deepEqual(of(line), server, line);
  assert.deepEqual(launchOf(["sh", "-c", "exec npx -y '@scope/server@1.2.3' ~"]).kind, "refused");
  assert.deepEqual(
    launchOf(["bash", "-lc", "exec npx -y '@scope/server@1.2.3' \"a b\""]),
    npm("@scope/server", "1.2.3", ["a b"]),
  );
});

Deno.test("a package's version, range, tag and program are kept apart", () => {
  assert.deepEqual(of("npx server"), npm("server", "latest"));
  assert.deepEqual(of("npx server@^2.0.0"), npm("server", "^2.0.0"));
  assert.deepEqual(of("npx -p server@2 other a"), npm("server", "2", ["a"], "other"));
  assert.deepEqual(of("npx --package=@s/server other"), npm("@s/server", "latest", [], "other"));
  assert.deepEqual(
    of("deno run -A npm:server@1.0.0/other a"),
    npm("server", "1.0.0", ["a"], "other"),
  );
  assert.deepEqual(of("deno run -A npm:@s/server/other"), npm("@s/server", "latest", [], "other"));
});

Deno.test("what is fetched from somewhere else than a registry is refused", () => {
  for (
    const spec of [
      ...["./server", "../x", "/home/x/y.tgz", "github:mallory/server", "mallory/server"],
      ...["git+https://x/y.git", "https://x/y.tgz", "server@file:../x", "server@https://x/y"],
      ...["server@1 || 2", "Server", "@s", "server@", "", "-", "__proto__ x"],
    ]
  ) assert.equal(launchOf(["npx", spec]).kind, "refused", spec);
  for (const line of ["npx -c ls", "npx --registry=https://x server", "npx -p server"]) {
    assert.equal(of(line).kind, "refused", line);
  }
});

Deno.test("Python's ways name a package and its program", () => {
  const git: McpWish = {
    ...{ kind: "python", package: "mcp-server-git", wanted: "" },
    ...{ program: "mcp-server-git", args: ["--repository", "x"] },
  };
  assert.deepEqual(of("uvx mcp-server-git --repository x"), git);
  assert.deepEqual(of("uvx mcp-server-git@latest --repository x"), git);
  assert.deepEqual(of("uv tool run mcp-server-git --repository x"), git);
  assert.deepEqual(of("pipx run mcp-server-git --repository x"), git);
  assert.deepEqual(of("uvx mcp-server-git==1.2 --repository x"), { ...git, wanted: "1.2" });
  assert.deepEqual(of("uvx --from mcp-tools==1.0 serve --repository x"), {
    ...{ ...git, package: "mcp-tools", wanted: "1.0", program: "serve" },
  });
  for (
    const line of [
      ...["uvx git+https://x/y", "uvx ./x", "uvx --with ./other x", "uvx --index-url http://x y"],
      ...["uvx --with-editable . x", "uv sync", "uv run", "pipx install x", "uvx"],
      ...["uvx --with=-e x", "uvx --with git+https://x/y z"],
    ]
  ) assert.equal(of(line).kind, "refused", line);
  const needs = {
    with: ["a==1.2", "b>=2,<3", "c[x]"],
    python: "python3.12",
    constraints: ["c.txt"],
  };
  const flags = "--with a@1.2 --with b>=2,<3,c[x] --python 3.12 -c c.txt";
  assert.deepEqual(of(`uvx ${flags} mcp-server-git --repository x`), { ...git, ...needs });
  assert.deepEqual(of("uv --directory /x run server --flag"), {
    ...{ kind: "uvRun", script: false, args: ["server", "--flag"], folder: "/x" },
  });
  assert.deepEqual(of("uv run --with a --script tool -v"), {
    ...{ kind: "uvRun", script: true, args: ["tool", "-v"], with: ["a"] },
  });
  assert.deepEqual(of("uv run --directory=/x -m server"), {
    ...{ kind: "uvRun", script: false, args: ["python", "-m", "server"], folder: "/x" },
  });
});

Deno.test("what starts something outside of the walls is refused with the reason", () => {
  for (
    const line of ["docker run -i x", "podman run x", "sudo npx x", "ssh host x", "env A=b npx x"]
  ) {
    const wish = of(line);
    assert.ok(wish.kind === "refused" && wish.why.length > 10, line);
  }
  assert.match((of("docker run -i mcp/x") as { why: string }).why, /container/);
});

Deno.test("an address, and a bridge to one, is the address", () => {
  assert.deepEqual(of("https://Example.org/mcp#x"), {
    ...{ kind: "http", url: "https://example.org/mcp", headers: {} },
  });
  assert.deepEqual(
    launchOf([
      "npx",
      "-y",
      "mcp-remote@1",
      "https://x.org/mcp",
      "--header",
      "X-Key: ${KEY}",
      "8080",
    ]),
    { kind: "http", url: "https://x.org/mcp", headers: { "x-key": "${KEY}" } },
  );
  assert.equal(of("https://alice:pw@x.org/").kind, "refused");
  assert.equal(of("https://x.org/ more").kind, "refused");
  assert.equal(launchOf(["npx", "mcp-remote"]).kind, "refused");
});

Deno.test("anything else is a program of this machine", () => {
  assert.deepEqual(of("/opt/server --x y"), {
    ...{ kind: "program", program: "/opt/server", args: ["--x", "y"] },
  });
  assert.deepEqual(of("node build/index.js a"), {
    ...{ kind: "program", program: "node", args: ["build/index.js", "a"] },
  });
  assert.equal(launchOf([]).kind, "refused");
  assert.equal(launchOf(["a\nb"]).kind, "refused");
});

Deno.test("a shell's script is split only where a shell would do nothing else with it", () => {
  assert.deepEqual(splitWords("a  'b c' \"d\"e"), ["a", "b c", "de"]);
  for (
    const script of [
      ...[
        "a; b",
        "a && b",
        "a | b",
        "a > b",
        "$A",
        "`a`",
        'a "$B"',
        "a 'b",
        "a\nb",
        "A=b c",
        "a \\b",
      ],
      ...["~/x", "a*", "{a,b}", "(a)", "", "  ", "a # b"],
    ]
  ) assert.equal(splitWords(script), undefined, script);
  let line = "npx server";
  for (let n = 0; n < 6; n++) line = `sh -c ${"'\""[n % 2] ?? ""}${line}${"'\""[n % 2] ?? ""}`;
  assert.equal(launchOf(splitWords(line) ?? [line]).kind, "refused");
});
