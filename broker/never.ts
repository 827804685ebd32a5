/** What no tool may touch, and which files execute later. DESIGN sections 5 and 6. @module */
import { foldPath, type Glob, makeGlob } from "./glob.ts";

/** Credentials and keys: no tool reads or writes them, whatever a rule says. */
export const NEVER: readonly string[] = Object.freeze([
  ".env*",
  "*.env",
  "**/.ssh/**",
  "id_rsa*",
  "id_dsa*",
  "id_ecdsa*",
  "id_ed25519*",
  "*.pem",
  "*.key",
  "*.p12",
  "*.pfx",
  "*.jks",
  "*.keystore",
  "*.kdbx",
  "*.ppk",
  ".netrc",
  "_netrc",
  ".npmrc",
  ".pypirc",
  ".pgpass",
  ".htpasswd",
  ".git-credentials",
  "**/.aws/**",
  "**/.azure/**",
  "**/.gnupg/**",
  "**/.kube/**",
  "**/.docker/config.json",
  "**/.config/gcloud/**",
  "**/.config/gh/**",
  "credentials*.json",
  "*service-account*.json",
]);

/** What no tool writes: Remit's own policy and answers, and a repository's inside. */
export const NEVER_WRITE: readonly string[] = Object.freeze([
  "remit.yaml",
  "remit.lock",
  "answers.json",
  "**/.git/**",
  // What Windows calls `.git` too, where a folder of it is mounted.
  "**/git~1/**",
]);

const EXECUTES = [
  "**/.github/workflows/**",
  "**/.gitlab-ci.yml",
  "**/.gitlab/**",
  "**/.circleci/**",
  "**/.ci/**",
  "**/.husky/**",
  "**/hooks/**",
  // Every repository without a work tree has one: git runs what the settings beside it name.
  "head",
  ".gitconfig",
  ".hgrc",
  "**/.buildkite/**",
  "**/.woodpecker/**",
  ".woodpecker.y*ml",
  ".drone.y*ml",
  "appveyor.y*ml",
  "bitbucket-pipelines.y*ml",
  "**/.githooks/**",
  "**/.vscode/**",
  "**/.idea/**",
  "**/.devcontainer/**",
  "**/bin/**",
  "**/.cargo/**",
  "**/.mvn/**",
  "**/.claude/**",
  "**/.cursor/**",
  "**/.config/autostart/**",
  "**/.config/systemd/**",
  "**/.config/nvim/**",
  // Other agents and editors start servers, tasks and hooks that their settings name.
  "**/.gemini/**",
  "**/.codex/**",
  "**/.opencode/**",
  "**/.windsurf/**",
  "**/.continue/**",
  "**/.roo/**",
  "**/.cline/**",
  "**/.kiro/**",
  "**/.zed/**",
  "**/.fleet/**",
  "**/.vs/**",
  "**/.run/**",
  "**/launchagents/**",
  "**/.yarn/**",
  "**/.direnv/**",
  ".claude.json",
  "claude_desktop_config.json",
  "mcp_config.json",
  "mcp_settings.json",
  "opencode.json*",
  ".devcontainer.json",
  "*.code-workspace",
  "*.sublime-project",
  ".mcp.json",
  "mcp.json",
  "package.json",
  ".pnpmfile.cjs",
  ".yarnrc*",
  "*.config.js",
  "*.config.cjs",
  "*.config.mjs",
  "*.config.ts",
  "*.config.mts",
  ".eslintrc*",
  ".prettierrc*",
  ".babelrc*",
  ".stylelintrc*",
  ".mocharc*",
  ".lintstagedrc*",
  ".huskyrc*",
  ".pnp.*",
  "*.config.cts",
  "mise.toml",
  ".mise.toml",
  "devbox.json",
  "directory.build.*",
  ".bazelrc",
  "build.bazel",
  "gruntfile.*",
  "gulpfile.*",
  "bunfig.toml",
  "composer.json",
  "deno.json",
  "deno.jsonc",
  "jenkinsfile",
  "makefile",
  "gnumakefile",
  "*.mk",
  "dockerfile*",
  "docker-compose*",
  "compose.y*ml",
  "justfile",
  "rakefile",
  "taskfile.y*ml",
  "procfile",
  "vagrantfile",
  "flake.nix",
  "shell.nix",
  "default.nix",
  "*.cmake",
  "meson.build",
  "configure",
  "build.zig",
  "build.xml",
  "build.sbt",
  "mix.exs",
  "*.gemspec",
  "*.bzl",
  "gradlew*",
  "settings.gradle*",
  "mvnw*",
  "noxfile.py",
  "setup.cfg",
  "sitecustomize.py",
  "usercustomize.py",
  "*.pth",
  "gemfile",
  "cmakelists.txt",
  "build.rs",
  "cargo.toml",
  "setup.py",
  "pyproject.toml",
  "conftest.py",
  "build.gradle*",
  "pom.xml",
  "tox.ini",
  "lefthook.y*ml",
  ".pre-commit-config.y*ml",
  ".pre-commit-hooks.y*ml",
  "azure-pipelines.y*ml",
  ".travis.yml",
  "*.sh",
  "*.bash",
  "*.zsh",
  "*.fish",
  "*.bat",
  "*.cmd",
  "*.ps1",
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".bash_aliases",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".xinitrc",
  ".xprofile",
  ".xsession*",
  ".inputrc",
  ".tmux.conf",
  ".vimrc",
  ".exrc",
  ".nvimrc",
  ".gdbinit",
  ".lldbinit",
  ".emacs",
  ".dir-locals.el",
  "*.service",
  "*.desktop",
  "crontab",
  ".envrc",
  ".npmrc",
  ".gitattributes",
  ".gitmodules",
];

/** A glob and the place it was written. */
export interface PlacedGlob {
  readonly glob: string;
  readonly at: string;
}

/** Finds the first glob that covers a path. Results are kept: the answer depends on the path alone. */
export function makePathList(
  globs: readonly PlacedGlob[],
): (path: string) => PlacedGlob | undefined {
  const names: { readonly glob: Glob; readonly placed: PlacedGlob }[] = [];
  const paths: typeof names = [];
  for (const placed of globs) {
    const folded = foldPath(placed.glob);
    (folded.includes("/") ? paths : names).push({ glob: makeGlob(folded), placed });
  }
  const find = (path: string): PlacedGlob | undefined => {
    // Folded before it is split: a compatibility form of "/" must not hide a name.
    const parts = foldPath(path).split(/[/\\]/).filter((part) => part !== "" && part !== ".")
      // Folders of Windows drop these at the end: `.git.` is `.git`.
      .map((part) => part.replace(/[. ]{1,255}$/, "") || part);
    for (const { glob, placed } of names) {
      for (const part of parts) if (glob.matches([part])) return placed;
    }
    for (const { glob, placed } of paths) {
      for (let end = 1; end <= parts.length; end++) {
        if (glob.matches(parts.slice(0, end))) return placed;
      }
    }
    return undefined;
  };
  return remembering(find);
}

/** Tells whether a file is one that executes later without anyone asking for it. */
export const executesLater: (path: string) => boolean = (() => {
  const find = makePathList(EXECUTES.map((glob) => ({ glob, at: "built-in: executes" })));
  return (path) => find(path) !== undefined;
})();

const KEPT = 4_096;

/** Remembers answers of a pure function, up to 4,096 of them. */
export function remembering<T>(find: (key: string) => T): (key: string) => T {
  const known = new Map<string, { readonly found: T }>();
  return (key) => {
    let entry = known.get(key);
    if (entry === undefined) {
      entry = { found: find(key) };
      if (known.size >= KEPT) known.clear();
      known.set(key, entry);
    }
    return entry.found;
  };
}
