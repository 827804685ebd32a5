/**
 * The never-list and its one matcher: globs over paths `MOUNT/relative`, asked by every wall that keeps names away.
 * Names that some file system treats as equal are equal here.
 *
 * A glob without `/` is a name at any depth; a glob with `/` is a path, from the mount or from its top. `*` and `?` stay
 * within one part of a path, `**` crosses parts. `!GLOB` is an exception: it allows a file whose name says "example"
 * (`.env.example`) that a built-in name glob covers. Exceptions lift nothing else.
 * @module
 */

/** Credentials and keys: no tool reads or writes them, whatever a rule allows. */
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
  // Histories of shells and clients hold typed passwords.
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

/** A compiled list of globs. */
export interface PathList {
  /** The first glob that covers a path or a folder above it. */
  find(path: string): PlacedGlob | undefined;
  /** As `find`, for a path whose folder was checked before. */
  findNext(path: string): PlacedGlob | undefined;
}

const PLAIN = /^[ -~]*$/;

/**
 * One spelling for names that some file system treats as equal: folds letter case and Unicode compatibility forms,
 * drops invisible characters.
 */
export function foldPath(path: string): string {
  if (PLAIN.test(path)) return path.toLowerCase();
  const seen = path.normalize("NFKC").replace(/[\p{Cf}\uFE00-\uFE0F]/gu, "");
  return seen.toLowerCase().normalize("NFKC");
}

/** Matches with `star` as a wildcard; greedy with one backtracking point, so no pattern takes exponential time. */
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

/** A matcher of one part of a path against a pattern with `*` and `?`. */
export function partMatcher(pattern: string): (name: string) => boolean {
  if (!/[*?]/.test(pattern)) return (name) => name === pattern;
  const tail = pattern.slice(1);
  if (pattern.startsWith("*") && !/[*?]/.test(tail)) return (name) => name.endsWith(tail);
  const head = pattern.slice(0, -1);
  if (pattern.endsWith("*") && !/[*?]/.test(head)) return (name) => name.startsWith(head);
  const characters = [...pattern];
  return (name) => wild(characters, [...name], "*", (p, s) => p === "?" || p === s);
}

/** Words in a name that mark a file as an example without secrets. */
const EXAMPLE = /(?:^|[._-])(?:example|sample|template|dist|schema|tpl)(?:[._-]|$)/;

interface Compiled {
  /** Globs without wildcards, by name. */
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

/** Built-in globs that an exception may lift: names, not folders. */
const LIFTABLE: ReadonlySet<string> = new Set(NEVER.filter((glob) => !glob.includes("/")));

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
  // What still holds where an exception applies.
  const standing = compile(own.filter(({ glob }) => !LIFTABLE.has(glob)));
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
      // An exception lifts neither a listed folder above the file nor a glob that is not liftable.
      const above = next ? undefined : matchIn(list, parts.slice(0, -1), false);
      const still = above ?? matchIn(standing, parts, next);
      if (still !== undefined) return still;
      if (matchIn(exceptions, parts, true) === undefined) return found;
    }
    return undefined;
  };
  return Object.freeze({
    find: remembering((path: string) => search(path, false)),
    // A lifted name may be a folder: paths in it need the whole check.
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

/** A path's parts as written, and as read by file systems that distinguish fewer names. */
function variantsOf(path: string): readonly (readonly string[])[] {
  // Fold before splitting: a compatibility form of "/" must not hide a name.
  const folded = foldPath(path);
  const there = folded.split("/").filter((part) => part !== "" && part !== ".");
  if (!/[\\]|[. ](?:\/|$)/.test(folded)) return [there];
  const read = folded.split(/[/\\]/).filter((part) => part !== "" && part !== ".")
    // Windows drops trailing dots and spaces of a name: `.git.` is `.git`.
    .map((part) => part.replace(/[. ]{1,255}$/, "") || part);
  return [there, read];
}

const MAX_REMEMBERED = 4_096;

/** Remembers answers of a pure function, up to 4,096 of them. */
export function remembering<T>(find: (key: string) => T): (key: string) => T {
  const known = new Map<string, { readonly found: T }>();
  return (key) => {
    let entry = known.get(key);
    if (entry === undefined) {
      entry = { found: find(key) };
      if (known.size >= MAX_REMEMBERED) known.clear();
      known.set(key, entry);
    }
    return entry.found;
  };
}
