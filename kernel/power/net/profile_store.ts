/**
 * Stores browser profiles for profiles.ts: a person's approvals, and cookies that only the kernel
 * reads. A profile is a file of mode 0600 in STATE/kernel/profiles, replaced atomically. A file
 * without the person's signature is ignored.
 * @module
 */
import * as z from "zod";
import { Fault } from "../../../contracts/base/fault.ts";
import { type Json, type JsonObject, toJson } from "../../../contracts/base/json.ts";
import {
  COOKIE_LIMITS,
  profileClaim,
  ProfileCookie,
  ProfileGrant,
  ProfileName,
  ProfileSignature,
  type ProfileStanding,
} from "../../../contracts/policy/browser_profile.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import type { EventLog, NewEvent } from "../../../contracts/task/mod.ts";
import { sameCookie } from "./cookie.ts";

/** The control operation `profiles`: a closed union on `do`. */
export const ProfileBody = z.discriminatedUnion("do", [
  z.object({ do: z.literal("list") }).strict(),
  z.object({ do: z.literal("approve"), grant: ProfileGrant, signature: ProfileSignature })
    .strict(),
  z.object({ do: z.literal("forget"), name: ProfileName }).strict(),
  z.object({
    ...{ do: z.literal("import"), name: ProfileName },
    cookies: z.array(ProfileCookie).min(1).max(COOKIE_LIMITS.cookies),
  }).strict(),
]);
/** See {@link ProfileBody}. */
export type ProfileBody = z.infer<typeof ProfileBody>;

/** The stored state of a profile. */
const Kept = z.object({
  version: z.literal(1),
  grant: ProfileGrant,
  signature: ProfileSignature,
  cookies: z.array(ProfileCookie).max(COOKIE_LIMITS.cookies),
}).strict();
/** See {@link Kept}. */
export type Kept = z.infer<typeof Kept>;

/** The parts of {@link openProfileStore}. */
export interface ProfileStoreParts {
  /** STATE/kernel/profiles. */
  readonly dir: string;
  readonly disk: {
    makeDir(path: string): Promise<void>;
    list(path: string): Promise<readonly string[]>;
    read(path: string): Promise<Uint8Array | undefined>;
    write(path: string, bytes: Uint8Array): Promise<void>;
    remove(path: string): Promise<void>;
  };
  readonly powers: Pick<Powers, "now" | "after" | "reach">;
  readonly log: Pick<EventLog, "append">;
  /** This kernel's receipt key, which names its state. */
  readonly kernelKey: string;
  /** Whether the person's key signed this claim. */
  signed(claim: JsonObject, signature: string): boolean;
  note(line: string): void;
}

/** The stored profiles. */
export interface ProfileStore {
  get(name: ProfileName): Kept | undefined;
  /** Applies an answer's cookies to the current state; resolves once the changes are durable. */
  change(name: ProfileName, set: readonly CookieChange[]): Promise<void>;
  /** Serves the operator's control operation. Rejects `refused`, `notFound`. */
  ask(body: ProfileBody): Promise<Json>;
}

/** A cookie that is set or deleted. */
export interface CookieChange {
  readonly cookie: ProfileCookie;
  readonly kind: "kept" | "gone";
}

const MAX_LOOK_MS = 3_600_000, DAY_MS = 86_400_000;
const CHAIN = "profiles";

/** Opens the profiles that earlier kernels stored, and empties expired ones. */
export async function openProfileStore(parts: ProfileStoreParts): Promise<ProfileStore> {
  const { dir, disk, powers, log, note } = parts;
  const kept = new Map<ProfileName, Kept>();
  const writing = new Map<ProfileName, Promise<void>>();
  /** Cookie counts of unusable profiles whose files could not be removed; `forget` tries again. */
  const forgotten = new Map<ProfileName, number>();
  const fileOf = (name: ProfileName): string => `${dir}/${name}.json`;

  const load = async (): Promise<void> => {
    for (const file of await disk.list(dir)) {
      const name = ProfileName.safeParse(file.replace(/\.json$/, "")).data;
      // A temporary file of a kernel that was killed while writing.
      if (name === undefined || `${name}.json` !== file) await disk.remove(`${dir}/${file}`);
      else {
        const found = parseKept(await disk.read(`${dir}/${file}`));
        if (found?.grant.name === name && isSigned(found)) kept.set(name, found);
        else note(`Browser profile "${name}" is not used: its file is damaged, or not signed`);
      }
    }
  };
  const isSigned = ({ grant, signature }: Pick<Kept, "grant" | "signature">): boolean =>
    parts.signed(profileClaim(grant, parts.kernelKey), signature);

  /** Queues a write of a profile; each write stores the state at the time when it begins. */
  const write = (name: ProfileName): Promise<void> => {
    const next = (writing.get(name) ?? Promise.resolve()).catch(() => undefined).then(async () => {
      const now = kept.get(name);
      if (now === undefined) await disk.remove(fileOf(name));
      else {
        await disk.makeDir(dir);
        await disk.write(fileOf(name), new TextEncoder().encode(JSON.stringify(now)));
      }
    });
    writing.set(name, next);
    return next;
  };
  const logEvent = (body: JsonObject, secret?: JsonObject): Promise<unknown> => {
    const event: NewEvent = { kind: "profile", body, ...(secret ? { private: secret } : {}) };
    return log.append(CHAIN, [event]);
  };

  /** Empties expired profiles. The cookies are deleted before the event is logged. */
  const emptyExpired = async (): Promise<void> => {
    for (const name of [...kept.keys()]) {
      // During the write of another profile this one may have been approved again or forgotten.
      const each = kept.get(name);
      if (each === undefined || each.grant.expiresAt > powers.now()) continue;
      if (each.cookies.length === 0) continue;
      kept.set(name, { ...each, cookies: [] });
      await write(name);
      await logEvent({ what: "expired", name, cookies: each.cookies.length });
    }
  };
  let stopTimer: (() => void) | undefined;
  const setTimer = (): void => {
    stopTimer?.();
    const next = Math.min(
      ...[...kept.values()].flatMap(({ grant, cookies }) =>
        cookies.length === 0 ? [] : [grant.expiresAt]
      ),
    );
    if (next === Infinity) return;
    // The clock may be set and the machine may sleep, so one timer never waits for days.
    stopTimer = powers.after(Math.min(Math.max(next - powers.now(), 0) + 1, MAX_LOOK_MS), () => {
      emptyExpired().catch((error: unknown) => note(`Profiles were not emptied: ${String(error)}`))
        .finally(setTimer);
    });
  };

  const change: ProfileStore["change"] = async (name, set) => {
    const had = kept.get(name), now = powers.now();
    if (had === undefined || set.length === 0) return;
    const live = had.cookies.filter(({ expiresAt = Infinity }) => expiresAt > now);
    kept.set(name, { ...had, cookies: set.reduce(changed, live) });
    powers.reach("beforeCookies");
    await write(name);
    powers.reach("afterCookies");
    setTimer();
  };

  const approve = async ({ grant, signature }: Pick<Kept, "grant" | "signature">) => {
    const { name, agent, origins, days, approvedAt, expiresAt } = grant, now = powers.now();
    if (!isSigned({ grant, signature })) {
      throw refusal("approve", name, "the signature is not the person's, over exactly this");
    }
    const inTime = expiresAt > now && expiresAt <= approvedAt + days * DAY_MS;
    // The clocks of two programs may differ slightly.
    if (!inTime || approvedAt > now + 60_000) {
      throw refusal("approve", name, "its time is over, or not what remit.yaml says");
    }
    const before = kept.get(name);
    // An agent never gets the cookies of another agent.
    const cookies = before?.grant.agent === agent
      ? before.cookies.filter(({ origin }) => origins.includes(origin))
      : [];
    kept.set(name, { version: 1, grant, signature, cookies });
    await write(name);
    await logEvent(
      { what: "approved", name, agent, expiresAt, cookies: cookies.length },
      { origins: [...origins] },
    );
    setTimer();
    return standingOf(kept.get(name) ?? { version: 1, grant, signature, cookies });
  };

  const forget = async (name: ProfileName): Promise<{ readonly cookies: number }> => {
    const cookies = kept.get(name)?.cookies.length ?? forgotten.get(name);
    if (cookies === undefined) {
      throw new Fault("notFound", `Cannot forget "${name}": nothing is kept`);
    }
    kept.delete(name);
    forgotten.set(name, cookies);
    await write(name);
    forgotten.delete(name);
    await logEvent({ what: "forgotten", name, cookies });
    return { cookies };
  };

  const importCookies = async (name: ProfileName, given: readonly ProfileCookie[]) => {
    const had = kept.get(name), now = powers.now();
    if (had === undefined || had.grant.expiresAt <= now) {
      throw refusal("import into", name, `approve it first: remit browser approve ${name}`);
    }
    const wrong = given.find(({ origin }) => !had.grant.origins.includes(origin));
    if (wrong !== undefined) {
      throw refusal("import into", name, `${wrong.origin} is none of its origins`);
    }
    const cookies = given.map((cookie) => ({ cookie, kind: "kept" as const })).reduce(
      changed,
      had.cookies,
    );
    kept.set(name, { ...had, cookies });
    await write(name);
    await logEvent({ what: "imported", name, cookies: given.length });
    setTimer();
    return { cookies: given.length };
  };

  await load();
  await emptyExpired();
  setTimer();

  return Object.freeze<ProfileStore>({
    get: (name) => kept.get(name),
    change,
    async ask(body) {
      switch (body.do) {
        case "list":
          await emptyExpired();
          return toJson([...kept.values()].map(standingOf));
        case "approve":
          return toJson(await approve(body));
        case "forget":
          return toJson(await forget(body.name));
        case "import":
          return toJson(await importCookies(body.name, body.cookies));
      }
    },
  });
}

function parseKept(bytes: Uint8Array | undefined): Kept | undefined {
  try {
    return Kept.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    // The error is dropped: a parser's message repeats values.
    return undefined;
  }
}

function refusal(what: string, name: ProfileName, why: string): Fault {
  return new Fault("refused", `Cannot ${what} browser profile "${name}": ${why}`);
}

function standingOf({ grant, cookies }: Kept): ProfileStanding {
  return { grant, cookies: cookies.map(({ value: _value, ...rest }) => rest) };
}

/** The cookies after one change. Above the limit the oldest are dropped. */
function changed(
  before: readonly ProfileCookie[],
  { cookie, kind }: CookieChange,
): ProfileCookie[] {
  const had = before.find((each) => sameCookie(each, cookie));
  const others = before.filter((each) => each !== had);
  if (kind === "gone") return others;
  const createdAt = had?.createdAt ?? cookie.createdAt;
  return [...others, { ...cookie, createdAt }].slice(-COOKIE_LIMITS.cookies);
}
