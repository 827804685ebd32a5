/** Names by which a file that nobody reviewed as a program runs later all the same. */
import assert from "node:assert/strict";
import { executesLater, NEVER_WRITE } from "../../../broker/never.ts";
import { makePathList } from "../../../text/path_list.ts";

Deno.test("a repository within the folder is not made by another name of .git, nor unseen without one", () => {
  const { find } = makePathList(NEVER_WRITE.map((glob) => ({ glob, at: "built-in" })));
  // Where the folder is one of Windows, all of these are one name.
  for (const name of [".git", ".GIT", ".git.", ".git ", ".git. .", "git~1", "\uff0egit"]) {
    assert.ok(find(`desk/sub/${name}`), name);
    assert.ok(find(`desk/sub/${name}/config`), name);
  }
  assert.ok(find("desk/remit.yaml.") && find("desk/REMIT.LOCK ."));
  assert.equal(find("desk/.github/readme.md"), undefined);
  assert.equal(find("desk/git/notes..md"), undefined);
  // git takes any folder with a HEAD, objects and refs for a repository, and runs what its `config` says.
  assert.ok(executesLater("desk/docs/HEAD"));
});

Deno.test("what shells, editors, builds and other agents run of a folder is shown apart", () => {
  const names = [
    ...[
      ".zshenv",
      "crontab",
      ".config/systemd/user/a.service",
      "x.desktop",
      ".gitconfig",
      ".vimrc",
    ],
    ...[
      "vite.config.ts",
      ".eslintrc.js",
      ".pnpmfile.cjs",
      ".cargo/config.toml",
      "gradlew",
      "x.pth",
    ],
    ...[".mcp.json", ".claude/settings.json", ".cursor/mcp.json", "Taskfile.yml", "shell.nix"],
    ...[".gemini/settings.json", ".codex/config.toml", ".zed/tasks.json", ".devcontainer.json"],
    ...["a.code-workspace", ".vscode/tasks.json", ".devcontainer/x.sh", ".pre-commit-config.yml"],
    ...[".prettierrc.cjs", ".yarn/releases/yarn.cjs", "mise.toml", "claude_desktop_config.json"],
    ...[".husky/pre-commit", "Makefile", "package.json", "Makefile.", "BUILD.RS"],
  ];
  for (const name of names) assert.ok(executesLater(`desk/a/${name}`), name);
  for (const name of ["notes.md", "header.md", "config.json", "main.ts", "ahead"]) {
    assert.equal(executesLater(`desk/a/${name}`), false, name);
  }
});
