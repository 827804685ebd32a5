/**
 * Persistent browser profiles in use: which calls carry a profile's cookies, and which cookies an
 * answer sets. A profile belongs to one agent, in the first process of an operator's task; one task
 * at a time uses the profile. Opened by kernel/main_tools.ts. docs/browser_profiles.md
 * @module
 */
import type { Digest, Pid } from "../../../contracts/authority/ids.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { type Json, toJson } from "../../../contracts/base/json.ts";
import {
  type BrowserProfile,
  type BrowserProfiles,
  type ProfileCookie,
  ProfileName,
  whyNotApproved,
} from "../../../contracts/policy/browser_profile.ts";
import type { ProcessRow } from "../../../contracts/task/process.ts";
import {
  type ClaimOutcome,
  type ResourceLeaseId,
  ResourceRef,
} from "../../../contracts/task/resources.ts";
import type { Secret } from "../../../contracts/wire/wire_control.ts";
import { digestOf } from "../../../port/digest.ts";
import { cookieHeader, cookiesFor, parseSetCookie, sameCookie } from "./cookie.ts";
import {
  type Kept,
  openProfileStore,
  type ProfileBody,
  type ProfileStoreParts,
} from "./profile_store.ts";

/** The parts of {@link openProfiles}. */
export interface ProfilesParts extends ProfileStoreParts {
  /** The profiles in the current remit.yaml. */
  readonly configured: BrowserProfiles;
  /** Claims the profile for the task of a process, or renews its claim. */
  claim(row: ProcessRow, resource: ResourceRef): Promise<ClaimOutcome>;
  release(row: ProcessRow, lease: ResourceLeaseId): Promise<unknown>;
}

/** A value that is removed from answers. */
type Hidden = Pick<Secret, "value" | "prefix">;

/** The profile that one call of the browser carries. */
export interface ProfileUse {
  readonly name: ProfileName;
  /** The `Cookie` header of a request, or "". Throws Fault `refused` after revocation or expiry. */
  cookies(request: { readonly url: string; readonly method: string }): string;
  /**
   * Stores the cookies that an answer of `url` set; resolves once the cookies are durable. Rejects
   * with the faults of `cookies`. `next` is the address that the answer redirects to.
   */
  keep(url: string, lines: readonly string[], next?: string): Promise<void>;
  /** All cookie values of the profile since the call began, to remove from the call's answers. */
  hidden(): readonly Hidden[];
}

/** The profiles of one kernel. */
export interface Profiles {
  /**
   * The profile of a process at an origin, the digest of its approval and, if calls do not carry the
   * profile, the reason; undefined without a profile. A child process never has a profile.
   */
  seen(
    row: ProcessRow,
    origin: string,
  ): { readonly name: ProfileName; readonly grant: Digest; readonly why?: string } | undefined;
  /**
   * Begins a call of the browser to `url` that the gate allowed; undefined if the call carries no
   * profile. Rejects `conflict` while another task uses the profile. A call that opens no page
   * leaves the page of the process as it is.
   */
  begin(
    row: ProcessRow,
    url: string,
    options?: { readonly opensPage?: boolean },
  ): Promise<ProfileUse | undefined>;
  /**
   * Records after a call to the origin `asked` that the process has a page of origin `shown` open;
   * undefined if the answer shows no page. Not for calls that open none, such as downloads.
   */
  turned(row: ProcessRow, page: { readonly asked: string; readonly shown?: string }): void;
  /** Releases the claims of a process that closed its browser. */
  closed(row: ProcessRow): Promise<void>;
  /** Serves the control operation `profiles`. */
  ask(body: ProfileBody): Promise<Json>;
}

/** Principals whose tasks begin with text of other people, whatever rules apply to the task. */
const OUTSIDER = /^(?:peer|webhook|mail|swarm|world):|^token-|^mcp:(?!host$)/;
/** Shorter values would match too much other text. */
const MIN_HIDDEN_LENGTH = 8;
/**
 * An address or path without a query. A long run of letters and digits, `+` or `=` is more like a
 * token: Base64 may begin with a slash.
 */
const ADDRESS = /^(?:https?:\/\/[^/?#@]*(?=\/|$)|(?=\/))(?:[/._~-][^/?#+=._~-]{0,20})*$/;
/** Maximum `Set-Cookie` lines read from one answer. */
const MAX_LINES = 64;
/** The origin of a page whose origin is not known. */
const UNKNOWN = "";
/** Maximum number of processes whose open page is remembered. */
const MAX_PAGES = 4_096;

/** Opens the profiles that earlier kernels stored. */
export async function openProfiles(parts: ProfilesParts): Promise<Profiles> {
  const { configured, powers } = parts;
  const store = await openProfileStore(parts);
  const leases = new Map<Pid, Map<ProfileName, ResourceLeaseId>>();
  /** The origin of the open page, for each process whose agent has a profile. */
  const pages = new Map<Pid, string>();
  const agents: ReadonlySet<string> = new Set(Object.values(configured).map(({ agent }) => agent));

  const findProfile = (
    { ppid, profile, principal, spec }: Pick<ProcessRow, "ppid" | "profile" | "principal" | "spec">,
    origin: string,
  ): { readonly name: ProfileName; readonly entry: BrowserProfile } | undefined => {
    if (ppid !== undefined || profile !== "operator" || OUTSIDER.test(principal)) {
      return undefined;
    }
    for (const [text, entry] of Object.entries(configured)) {
      if (entry.agent === spec && entry.origins.includes(origin)) {
        return { name: ProfileName.parse(text), entry };
      }
    }
    return undefined;
  };
  const whyNot = (name: ProfileName, entry: BrowserProfile | undefined): string | undefined =>
    whyNotApproved(entry, store.get(name)?.grant, powers.now());

  /** Claims a profile for a task. @throws Fault `conflict` while another task has the profile */
  const claim = async (row: ProcessRow, name: ProfileName): Promise<void> => {
    const outcome = await parts.claim(row, ResourceRef.parse(`browserProfile:${name}`));
    if (outcome.kind === "conflict") {
      const { id, holder } = outcome.report;
      throw new Fault(
        "conflict",
        `Cannot use browser profile "${name}": task ${holder?.task ?? "of another"} works with ` +
          `it; go on with other work until it is free (conflict ${id})`,
      );
    }
    const own = leases.get(row.pid) ?? new Map<ProfileName, ResourceLeaseId>();
    leases.set(row.pid, own.set(name, outcome.lease.id));
  };

  const makeUse = (
    { row, name, entry, url: target }: {
      readonly row: ProcessRow;
      readonly name: ProfileName;
      readonly entry: BrowserProfile;
      readonly url: URL;
    },
  ): ProfileUse => {
    /** Once true, true until the call ends: the page of another origin runs scripts until then. */
    let crossSite = false;
    const isCrossSite = (): boolean => {
      const page = pages.get(row.pid);
      return crossSite ||= page !== undefined && !isSameSite(page, target.origin, entry.origins);
    };
    isCrossSite();
    /** The address that the call asked for, and the redirects that followed from it. */
    const navigation = new Set([withoutFragment(target)]);
    /** The state now, if the grant is still the one with which the call began. */
    const begun = store.get(name), approved = begun?.grant;
    /** Cookies that a request lacked because the call is cross-site. */
    const withheld: ProfileCookie[] = [];
    const hiddenValues = new Map<string, Hidden>();
    const addHidden = (cookies: readonly ProfileCookie[]): void => {
      for (const each of cookies.flatMap(hiddenFormsOf)) hiddenValues.set(each.value, each);
    };
    addHidden(begun?.cookies ?? []);
    const current = (): Kept => {
      const now = store.get(name);
      const why = now?.grant === approved ? whyNot(name, entry) : "taken back";
      if (now !== undefined && why === undefined) return now;
      throw new Fault("refused", `Cannot use browser profile "${name}": it is ${why}`);
    };
    return Object.freeze<ProfileUse>({
      name,
      cookies({ url: text, method }) {
        const { cookies } = current(), url = new URL(text), now = powers.now();
        addHidden(cookies);
        // From another origin's page, only the call's own address and its redirects open a page.
        const opens = navigation.has(withoutFragment(url)), asked = { url, method, opens, now };
        const sent = cookiesFor(cookies, { ...asked, crossSite: isCrossSite() });
        const own = crossSite ? cookiesFor(cookies, { ...asked, crossSite: false }) : sent;
        withheld.push(...own.filter((each) => !sent.includes(each)));
        return cookieHeader(sent);
      },
      async keep(text, lines, next) {
        const url = new URL(text), now = powers.now(), { origins } = current().grant;
        const opens = navigation.has(withoutFragment(url));
        if (opens && next !== undefined) navigation.add(withoutFragment(new URL(next)));
        // Other requests of a page of another origin must not set cookies.
        if (isCrossSite() && !opens) return;
        const read = lines.slice(0, MAX_LINES).map((line) =>
          parseSetCookie(line, { url, origins, now })
        );
        const set = read.flatMap((each) => each.kind === "refused" ? [] : [each]);
        addHidden(set.map(({ cookie }) => cookie));
        // A site that saw no session answers with a new one, which must not replace the signed-in one.
        const kept = set.filter(({ cookie }) => !withheld.some((each) => sameCookie(each, cookie)));
        await store.change(name, kept);
      },
      hidden: () => [...hiddenValues.values()],
    });
  };

  const setOpenPage = ({ pid, spec }: ProcessRow, origin: string): void => {
    if (!agents.has(spec)) return;
    pages.delete(pid);
    pages.set(pid, origin);
    const [oldest] = pages.keys();
    if (pages.size > MAX_PAGES && oldest !== undefined) pages.delete(oldest);
  };

  return Object.freeze<Profiles>({
    seen(row, origin) {
      const found = findProfile(row, origin);
      if (found === undefined) return undefined;
      const { name, entry } = found, why = whyNot(name, entry);
      const grant = digestOf(toJson(store.get(name)?.grant ?? null));
      return { name, grant, ...(why === undefined ? {} : { why }) };
    },
    async begin(row, text, { opensPage = true } = {}) {
      const url = new URL(text), found = findProfile(row, url.origin);
      if (found === undefined || whyNot(found.name, found.entry) !== undefined) {
        // A later call from a page outside the profile is cross-site.
        if (opensPage) setOpenPage(row, url.origin);
        return undefined;
      }
      await claim(row, found.name);
      return makeUse({ row, ...found, url });
    },
    turned(row, { asked, shown }) {
      const before = pages.get(row.pid) ?? asked;
      setOpenPage(row, shown ?? (before === asked ? asked : UNKNOWN));
    },
    async closed(row) {
      const own = [...leases.get(row.pid)?.values() ?? []];
      leases.delete(row.pid);
      pages.delete(row.pid);
      // A claim that expired, or that a person ended, is released already.
      for (const each of own) await parts.release(row, each).catch(ignoreFault);
    },
    ask: store.ask,
  });
}

/**
 * Whether two origins are of one site: both are at or beneath the host of one of the profile's
 * origins. Without a list of public suffixes no other origins are known to be.
 */
function isSameSite(a: string, b: string, origins: readonly string[]): boolean {
  if (a === b) return true;
  if (!origins.includes(a) || !origins.includes(b)) return false;
  return origins.some((each) => {
    const { protocol, hostname } = new URL(each);
    return [a, b].map((text) => new URL(text)).every((url) =>
      url.protocol === protocol && `.${url.hostname}`.endsWith(`.${hostname}`)
    );
  });
}

function ignoreFault(error: unknown): void {
  if (!(error instanceof Fault)) throw error;
}

function hiddenFormsOf({ value }: ProfileCookie): readonly Hidden[] {
  const bare = value.replace(/^"(.*)"$/, "$1");
  // The addresses of answers and links would be unreadable.
  if (ADDRESS.test(decoded(bare))) return [];
  return [...new Set([bare, decoded(bare)])].filter(({ length }) => length >= MIN_HIDDEN_LENGTH)
    .map((each) => ({ value: each, prefix: "" }));
}

/** Sites percent-encode texts in cookies and show them decoded. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function withoutFragment({ href }: URL): string {
  return href.replace(/#.*$/, "");
}
