/** A site with a login, a stranger's site, and a kernel in which an agent's profile was approved. */
import { profileClaim, ProfileGrant } from "../../contracts/policy/mod.ts";
import { canonicalJson } from "../../port/mod.ts";
import type { Siege } from "./siege.ts";
import type { Watched } from "./watched.ts";
import { yesToAll } from "./yes_to_all.ts";

/** The value of the session cookie. */
export const SESSION = "s3ss10n/of=alice+0123456789";
export const AGENT = { name: "shopper", labels: {}, persona: "", limits: {}, env: {} };

/** The outcome of one call. */
export interface Came {
  readonly outcome: string;
  readonly content: string;
  readonly colour: string;
  readonly label: string;
}

/** How a site answers; undefined: a plain page. */
export type Serve = (
  request: Request,
  url: URL,
) => Response | undefined | Promise<Response | undefined>;

/** Two sites on different hosts of this machine. */
export interface Sites {
  readonly shop: string;
  readonly evil: string;
  /** Requests to each: method, address, cookies. */
  readonly seen: { readonly shop: string[]; readonly evil: string[] };
}

/** Serves both while `f` runs. */
export async function withSites(
  serve: { readonly shop?: Serve; readonly evil?: Serve },
  f: (sites: Sites) => Promise<void>,
): Promise<void> {
  const seen = { shop: new Array<string>(), evil: new Array<string>() };
  const start = (site: "shop" | "evil") =>
    Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => undefined }, async (request) => {
      const url = new URL(request.url);
      const cookies = request.headers.get("cookie") ?? "-";
      seen[site].push(`${request.method} ${url.pathname}${url.search} ${cookies}`);
      return await serve[site]?.(request, url) ?? html(`<p>a page of the ${site}</p>`);
    });
  const shop = start("shop"), evil = start("evil");
  try {
    await f({
      shop: `http://127.0.0.1:${shop.addr.port}`,
      evil: `http://localhost:${evil.addr.port}`,
      seen,
    });
  } finally {
    await Promise.all([shop.shutdown(), evil.shutdown()]);
  }
}

/** A page. */
export function html(body: string, headers: Record<string, string> = {}): Response {
  return new Response(`<!doctype html><html><body>${body}</body></html>`, {
    headers: { "content-type": "text/html", ...headers },
  });
}

/** The kernel's configuration of the profile `shop`. */
export function profiles({ shop }: Pick<Sites, "shop">) {
  return { shop: { agent: AGENT.name, origins: [shop], days: 30 } };
}

/** The person's signed approval; changes are made before signing. */
export async function signedGrant(
  siege: Siege,
  { shop }: Pick<Sites, "shop">,
  changes: Partial<ProfileGrant> = {},
): Promise<{ readonly grant: ProfileGrant; readonly signature: string }> {
  const link = await siege.connect(), approvedAt = Date.now();
  const grant = ProfileGrant.parse({
    ...{ name: "shop", ...profiles({ shop }).shop, approvedAt },
    ...{ expiresAt: approvedAt + 30 * 86_400_000, ...changes },
  });
  const claim = canonicalJson(profileClaim(grant, link.receiptKey));
  return { grant, signature: siege.person.sign(claim) };
}

/** A cookie of the shop, as a person imports it. */
export function cookie({ shop }: Pick<Sites, "shop">, changes: object = {}): object {
  return {
    ...{ origin: shop, shared: false, name: "sid", value: SESSION, path: "/", secure: false },
    ...{ httpOnly: true, sameSite: "lax", createdAt: Date.now(), ...changes },
  };
}

/** Approves the profile, and imports the session into it. */
export async function signIn(siege: Siege, sites: Sites, cookies = [cookie(sites)]): Promise<void> {
  await siege.ask("profiles", { do: "approve", ...await signedGrant(siege, sites) });
  await siege.ask("profiles", { do: "import", name: "shop", cookies });
}

/** Names of the cookies that the kernel keeps. */
export async function namesKept(siege: Siege): Promise<readonly string[]> {
  const all = await siege.ask("profiles", { do: "list" }) as { cookies: { name: string }[] }[];
  return all.flatMap(({ cookies }) => cookies.map(({ name }) => name)).sort();
}

/**
 * The source of a worker that runs `steps`: in them `call(tool, args)` makes a call and gives its outcome, and
 * `snapshot(came)` the id that the outcome shows.
 */
export function acting(steps: string): string {
  return `({ async turn(ports) {
    const told = [];
    let n = 0;
    const call = async (tool, args) => {
      const { id } = await ports.advertise();
      const made = { id: "try-" + n++, name: tool, arguments: JSON.stringify(args) };
      const came = await ports.call(id, made).catch((e) => ({ outcome: e.code, content: e.message }));
      told.push(came);
      return came;
    };
    const snapshot = ({ content }) => /^snapshot (\\S+)$/m.exec(content)[1];
    ${steps}
    return { stop: "answered", text: JSON.stringify(told) };
  } })`;
}

/** Starts a task with such a worker; a person who reads nothing allows everything. */
export async function starts(
  siege: Siege,
  steps: string,
  draft: Parameters<Siege["run"]>[0] = {},
): Promise<Watched> {
  const limits = { toolCalls: 1_000, questions: 1_000 };
  const task = await siege.run({
    ...{ program: acting(steps), limits, onQuestion: "ask", agent: AGENT, ...draft },
  });
  yesToAll(siege, task);
  return task;
}

/** The outcomes of its calls. */
export async function does(
  siege: Siege,
  steps: string,
  draft: Parameters<Siege["run"]>[0] = {},
): Promise<readonly Came[]> {
  const task = await starts(siege, steps, draft);
  await task.end;
  return JSON.parse(String((await task.task())["answer"]));
}
