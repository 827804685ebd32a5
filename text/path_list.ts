/**
 * The never-list and its one matcher: globs over paths `MOUNT/relative`, which every wall that keeps names away
 * asks. Names that some file system takes for the same are the same to it.
 *
 * A glob without `/` is a name at any depth; one with `/` a path, from the mount or from its top. `*` and `?` stay
 * within a part, `**` goes across parts. `!GLOB` is an exception: a file that its name calls an example
 * (`.env.example`) is taken off the built-in names where an exception covers it. Nothing else is ever taken off.
 * @module
 */

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
  ".credentials*",
  ".secrets",
  ".vault-token",
  ".my.cnf",
  ".mylogin.cnf",
  ".boto",
  ".s3cfg",
  ".dockercfg",
  ".databrickscfg",
  ".terraformrc",
  ".rhosts",
  ".authinfo*",
  ".smbcredentials",
  ".fetchmailrc",
  ".msmtprc",
  ".xauthority",
  "rclone.conf",
  "kubeconfig*",
  "*.kubeconfig",
  "*.tfvars",
  "*.tfvars.json",
  "*.tfstate",
  "*.tfstate.*",
  "*.keytab",
  "*.agekey",
  "*.ovpn",
  "wallet.dat",
  // What a shell or a client kept of typed lines: passwords stand in them.
  ".*_history",
  "**/.cargo/credentials*",
  "**/.gem/credentials",
  "**/.codex/auth.json",
  "**/.composer/auth.json",
  "**/.config/git/credentials",
  "**/.config/sops/age/**",
  "**/.local/share/keyrings/**",
  "**/.oci/**",
  "**/.password-store/**",
]);

/** A glob and the place where it was written. */
export interface PlacedGlob {
  readonly glob: string;
  readonly at: string;
}

/** A compiled list. */
export interface PathList {
  /** The first glob that covers a path or a folder above it. */
  find(path: string): PlacedGlob | undefined;
  /** As `find`, for a path whose folder was judged before. */
  findNext(path: string): PlacedGlob | undefined;
}

const PLAIN = /^[ -~]*$/;

/**
 * Makes names equal that some file system takes for the same: letter case, Unicode compatibility
 * forms, invisible characters.
 */
export function foldPath(path: string): string {
  if (PLAIN.test(path)) return path.toLowerCase();
  const seen = path.normalize("NFKC").replace(/[\p{Cf}\uFE00-\uFE0F]/gu, "");
  return seen.toLowerCase().normalize("NFKC");
}

/** Greedy with one point of return, so that no pattern takes exponential time. */
export function wild<P, S>(
  pattern: readonly P[],
  subject: readonly S[],
  star: P,
  one: (p: P, s: S) => boolean,
): boolean {
  let p = 0, s = 0, backP = -1, backS = 0;
  while (s < subject.length) {
    const want = pattern[p], have = subject[s];
    if (p < pattern.length && want === star) {
      backP = p++;
      backS = s;
    } else if (
      p < pattern.length && want !== undefined && have !== undefined && one(want, have)
    ) {
      p++;
      s++;
    } else if (backP >= 0) {
      p = backP + 1;
      s = ++backS;
    } else return false;
  }
  while (p < pattern.length && pattern[p] === star) p++;
  return p === pattern.length;
}

/** Matches one part against a pattern with `*` and `?`. */
export function partMatcher(pattern: string): (name: string) => boolean {
  if (!/[*?]/.test(pattern)) return (name) => name === pattern;
  const tail = pattern.slice(1);
  if (pattern.startsWith("*") && !/[*?]/.test(tail)) return (name) => name.endsWith(tail);
  const head = pattern.slice(0, -1);
  if (pattern.endsWith("*") && !/[*?]/.test(head)) return (name) => name.startsWith(head);
  const letters = [...pattern];
  return (name) => wild(letters, [...name], "*", (p, s) => p === "?" || p === s);
}

/** Words of a name by which people say that a file holds no secret. */
const EXAMPLE = /(?:^|[._-])(?:example|sample|template|dist|schema|tpl)(?:[._-]|$)/;

interface Compiled {
  /** By whole name. */
  readonly exact: ReadonlyMap<string, PlacedGlob>;
  readonly names: readonly { matches(name: string): boolean; readonly placed: PlacedGlob }[];
  readonly paths: readonly { readonly pattern: readonly string[]; readonly placed: PlacedGlob }[];
  /** Matchers of the parts of `paths`. */
  readonly parts: ReadonlyMap<string, (name: string) => boolean>;
}

function compile(globs: readonly PlacedGlob[]): Compiled {
  const exact = new Map<string, PlacedGlob>();
  const names: Compiled["names"][number][] = [];
  const paths: Compiled["paths"][number][] = [];
  const parts = new Map<string, (name: string) => boolean>();
  for (const placed of globs) {
    const text = foldPath(placed.glob).replace(/^\/+|\/+$/g, "");
    if (text === "") continue;
    if (text.includes("/") || text === "**") {
      const pattern = text.split("/");
      for (const part of pattern) if (part !== "**") parts.set(part, partMatcher(part));
      paths.push({ pattern, placed });
    } else if (/[*?]/.test(text)) names.push({ matches: partMatcher(text), placed });
    else if (!exact.has(text)) exact.set(text, placed);
  }
  return { exact, names, paths, parts };
}

/** Globs that an exception may take a name off: built-in ones, of names and not of folders. */
const LIFTED: ReadonlySet<string> = new Set(NEVER.filter((glob) => !glob.includes("/")));

/**
 * Compiles a list.
 *
 * @example
 * ```ts
 * import { makePathList } from "./path_list.ts";
 * const list = makePathList([{ glob: ".env*", at: "built-in" }]);
 * if (list.find("desk/app/.E\u200bnv.local") === undefined) throw new Error("read");
 * ```
 */
export function makePathList(globs: readonly PlacedGlob[]): PathList {
  const isException = ({ glob }: PlacedGlob): boolean => glob.startsWith("!");
  const own = globs.filter((each) => !isException(each));
  const list = compile(own);
  // What an exception takes a name off: the same list without the globs that allow it.
  const standing = compile(own.filter(({ glob }) => !LIFTED.has(glob)));
  const exceptions = compile(
    globs.filter(isException).map(({ glob, at }) => ({ glob: glob.slice(1), at })),
  );
  const none = exceptions.exact.size + exceptions.names.length + exceptions.paths.length === 0;

  const search = (path: string, next: boolean): PlacedGlob | undefined => {
    const variants = variantsOf(path);
    for (const parts of variants) {
      const found = matchIn(list, parts, next);
      if (found === undefined) continue;
      if (none || !EXAMPLE.test(parts.at(-1) ?? "")) return found;
      // A folder above it that is listed stays so, and so does what another glob says of the file.
      const above = next ? undefined : matchIn(list, parts.slice(0, -1), false);
      const still = above ?? matchIn(standing, parts, next);
      if (still !== undefined) return still;
      if (matchIn(exceptions, parts, true) === undefined) return found;
    }
    return undefined;
  };
  return Object.freeze({
    find: remembering((path: string) => search(path, false)),
    // What was taken off as a file may be a folder: what lies in it is judged whole.
    findNext: (path: string) => search(path, none),
  });
}

function matchIn(
  list: Compiled,
  parts: readonly string[],
  next: boolean,
): PlacedGlob | undefined {
  for (const name of next ? parts.slice(-1) : parts) {
    const found = list.exact.get(name) ?? list.names.find((each) => each.matches(name))?.placed;
    if (found !== undefined) return found;
  }
  const one = (want: string, have: string): boolean => list.parts.get(want)?.(have) ?? false;
  for (const { pattern, placed } of list.paths) {
    for (let end = next ? parts.length : 1; end <= parts.length; end++) {
      const to = parts.slice(0, end);
      if (wild(pattern, to, "**", one)) return placed;
      // A path that names no mount holds in each.
      if (end > 1 && wild(pattern, to.slice(1), "**", one)) return placed;
    }
  }
  return undefined;
}

/** A path's parts as they are written, and as the file systems read them that tell fewer names apart. */
function variantsOf(path: string): readonly (readonly string[])[] {
  // Folded before it is split: a compatibility form of "/" must not hide a name.
  const folded = foldPath(path);
  const there = folded.split("/").filter((part) => part !== "" && part !== ".");
  if (!/[\\]|[. ](?:\/|$)/.test(folded)) return [there];
  const read = folded.split(/[/\\]/).filter((part) => part !== "" && part !== ".")
    // Folders of Windows drop these at the end: `.git.` is `.git`.
    .map((part) => part.replace(/[. ]{1,255}$/, "") || part);
  return [there, read];
}

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
