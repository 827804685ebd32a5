/**
 * Lasting browser profiles in use: whose call carries which cookies, and what an answer sets. A profile is one agent's,
 * of a task of the operator, of its first process; one task at a time works with it. docs/browser_profiles.md
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
import { cookieHeader, cookiesFor, parseSetCookie } from "./cookie.ts";
import {
  type Kept,
  openProfileStore,
  type ProfileBody,
  type ProfileStoreParts,
} from "./profile_store.ts";

/** What {@link openProfiles} is handed. */
export interface ProfilesParts extends ProfileStoreParts {
  /** As remit.yaml has them now. */
  readonly configured: BrowserProfiles;
  /** Claims the profile for the task of a process, or renews its claim. */
  claim(row: ProcessRow, resource: ResourceRef): Promise<ClaimOutcome>;
  release(row: ProcessRow, lease: ResourceLeaseId): Promise<unknown>;
}

/** A value that is taken out of what comes back. */
type Hidden = Pick<Secret, "value" | "prefix">;

/** One call of the browser that carries a profile. */
export interface ProfileUse {
  readonly name: ProfileName;
  /** The header of one request, empty without cookies. Throws Fault `refused` once it was taken back or is over. */
  cookies(request: { readonly url: string; readonly method: string }): string;
  /**
   * Takes in what an answer of `url` set; resolves once that is durable. Rejects as `cookies` throws. `next` is the address
   * that the answer redirects to.
   */
  keep(url: string, lines: readonly string[], next?: string): Promise<void>;
  /** Every value of the profile since the call began: taken out of all that comes back by it. */
  hidden(): readonly Hidden[];
}

/** The profiles of one kernel. */
export interface Profiles {
  /**
   * The profile of a process at an origin, the digest of what was approved, and why it does not go along, where it does
   * not; undefined where there is none. A child process never has one.
   */
  seen(
    row: ProcessRow,
    origin: string,
  ): { readonly name: ProfileName; readonly grant: Digest; readonly why?: string } | undefined;
  /**
   * Begins a call of the browser to `url` that the gate let through; undefined where no profile goes along.
   * Rejects `conflict` while another task works with it.
   */
  begin(row: ProcessRow, url: string): Promise<ProfileUse | undefined>;
  /**
   * After a call to the origin `asked`: the process has the page `shown` open, undefined where the answer shows none. What
   * a call fetched does not say which page is open: scripts and downloads fetch, too.
   */
  turned(row: ProcessRow, page: { readonly asked: string; readonly shown?: string }): void;
  /** The process closed its browser: what it claimed is free. */
  closed(row: ProcessRow): Promise<void>;
  /** The control operation `profiles`. */
  ask(body: ProfileBody): Promise<Json>;
}

/** In whose name a task begins with words of others, whatever rules hold for it. */
const STRANGER = /^(?:peer|webhook|mail):|^token-|^mcp:(?!host$)/;
/** As of other secrets: a shorter value stands for too much else. */
const SHORTEST = 8;
/** Lines of `Set-Cookie` of one answer that are read. */
const LINES = 64;
/** The origin of a page that may be anybody's. */
const UNKNOWN = "";
/** Processes whose last page is remembered. */
const PAGES = 4_096;

/** Opens the profiles that earlier kernels left. */
export async function openProfiles(parts: ProfilesParts): Promise<Profiles> {
  const { configured, powers } = parts;
  const store = await openProfileStore(parts);
  const leases = new Map<Pid, Map<ProfileName, ResourceLeaseId>>();
  /** The origin of the page that a process has open, where its agent has a profile. */
  const pages = new Map<Pid, string>();
  const agents: ReadonlySet<string> = new Set(Object.values(configured).map(({ agent }) => agent));

  const find = (
    { ppid, profile, principal, spec }: Pick<ProcessRow, "ppid" | "profile" | "principal" | "spec">,
    origin: string,
  ): { readonly name: ProfileName; readonly entry: BrowserProfile } | undefined => {
    if (ppid !== undefined || profile !== "operator" || STRANGER.test(principal)) return undefined;
    for (const [text, entry] of Object.entries(configured)) {
      if (entry.agent === spec && entry.origins.includes(origin)) {
        return { name: ProfileName.parse(text), entry };
      }
    }
    return undefined;
  };
  const whyNot = (name: ProfileName, entry: BrowserProfile | undefined): string | undefined =>
    whyNotApproved(entry, store.get(name)?.grant, powers.now());

  /** @throws Fault `conflict`, and `refused` where it was taken back meanwhile */
  const lease = async (row: ProcessRow, name: ProfileName): Promise<void> => {
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

  const useOf = (
    { row, name, entry, url: leadsTo }: {
      readonly row: ProcessRow;
      readonly name: ProfileName;
      readonly entry: BrowserProfile;
      readonly url: URL;
    },
  ): ProfileUse => {
    /** Once the page of another origin was open, the whole call is cross-site: that page's scripts run until it ends. */
    let crossSite = false;
    const isCrossSite = (): boolean => {
      const page = pages.get(row.pid);
      return crossSite ||= page !== undefined && page !== leadsTo.origin;
    };
    isCrossSite();
    /** The address that the call asked for, and the redirects that followed from it. */
    const way = new Set([plain(leadsTo)]);
    /** As it stands now, if the grant that the call began with stands still. */
    const begun = store.get(name), approved = begun?.grant;
    const hiding = new Map<string, Hidden>();
    const hide = (cookies: readonly ProfileCookie[]): void => {
      for (const each of cookies.flatMap(hiddenOf)) hiding.set(each.value, each);
    };
    hide(begun?.cookies ?? []);
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
        hide(cookies);
        // Of a page of another origin only what the call itself asked for is the way to a new page.
        const opens = way.has(plain(url)), asked = { url, method, opens, now };
        return cookieHeader(cookiesFor(cookies, { ...asked, crossSite: isCrossSite() }));
      },
      async keep(text, lines, next) {
        const url = new URL(text), now = powers.now(), { origins } = current().grant;
        const opens = way.has(plain(url));
        if (opens && next !== undefined) way.add(plain(new URL(next)));
        // What a page of others fetches in passing leaves nothing behind.
        if (isCrossSite() && !opens) return;
        const read = lines.slice(0, LINES).map((line) =>
          parseSetCookie(line, { url, origins, now })
        );
        const set = read.flatMap((each) => each.kind === "refused" ? [] : [each]);
        hide(set.map(({ cookie }) => cookie));
        await store.change(name, set);
      },
      hidden: () => [...hiding.values()],
    });
  };

  const turnedTo = ({ pid, spec }: ProcessRow, origin: string): void => {
    if (!agents.has(spec)) return;
    pages.delete(pid);
    pages.set(pid, origin);
    const [oldest] = pages.keys();
    if (pages.size > PAGES && oldest !== undefined) pages.delete(oldest);
  };

  return Object.freeze<Profiles>({
    seen(row, origin) {
      const found = find(row, origin);
      if (found === undefined) return undefined;
      const { name, entry } = found, why = whyNot(name, entry);
      const grant = digestOf(toJson(store.get(name)?.grant ?? null));
      return { name, grant, ...(why === undefined ? {} : { why }) };
    },
    async begin(row, text) {
      const url = new URL(text), found = find(row, url.origin);
      if (found === undefined || whyNot(found.name, found.entry) !== undefined) {
        // What leads on from a page of others is not a step within the site.
        turnedTo(row, url.origin);
        return undefined;
      }
      await lease(row, found.name);
      return useOf({ row, ...found, url });
    },
    turned(row, { asked, shown }) {
      const before = pages.get(row.pid) ?? asked;
      turnedTo(row, shown ?? (before === asked ? asked : UNKNOWN));
    },
    async closed(row) {
      const own = [...leases.get(row.pid)?.values() ?? []];
      leases.delete(row.pid);
      pages.delete(row.pid);
      // One that expired, or that a person ended, is free already.
      for (const each of own) await parts.release(row, each).catch(onlyFaults);
    },
    ask: store.ask,
  });
}

function onlyFaults(error: unknown): void {
  if (!(error instanceof Fault)) throw error;
}

function hiddenOf({ value }: ProfileCookie): readonly Hidden[] {
  const bare = value.replace(/^"(.*)"$/, "$1");
  return [...new Set([bare, decoded(bare)])].filter(({ length }) => length >= SHORTEST)
    .map((each) => ({ value: each, prefix: "" }));
}

/** Sites percent-encode what they put into cookies, and show it as it was. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function plain({ href }: URL): string {
  return href.replace(/#.*$/, "");
}
