/**
 * The page: tasks, waiting questions and messages, and forms that answer consent. Used by
 * service/gateway/main.ts.
 *
 * A form is accepted when all of this holds: its Origin is this server's, the browser says that
 * this page sent it, its cookie names a live session (no other site sends that cookie), and its
 * token belongs to that session. The starter signs the answer, with a key that the kernel accepts
 * for consent only: this process cannot make an answer grant more. Wired in
 * service/gateway/main.ts.
 * @module
 */
import * as z from "zod";
import { Digest, QuestionId, TaskId } from "../../../contracts/authority/ids.ts";
import { type Ask, type Door, nothing, refuse, type Routes, tooMany, wholeBody } from "../app.ts";
import { Fault, type FaultCode } from "../../../contracts/base/fault.ts";
import { InboxId } from "../../../contracts/exchange/inbox.ts";
import type { PageAsk } from "../../../contracts/wire/wire_a2a.ts";
import type { Rates } from "../rates.ts";
import type { ServiceAsks } from "../starter.ts";
import type { PageDoor } from "../over_http.ts";
import { documentOf, type Frame, loginBody, type Markup, sayBody, viewBody } from "./views.ts";

/** Maximum number of bytes in a form. */
const FORM_BYTES = 65_536;

const sealed = z.string().max(128);

/** The fields of each form. */
const FORMS = {
  login: z.object({ code: z.string().min(1).max(128) }).strict(),
  logout: z.object({ token: sealed }).strict(),
  answer: z.object({
    token: sealed,
    shown: Digest,
    decision: z.enum(["allow", "deny"]),
    say: z.string().max(2_000).optional(),
  }).strict(),
} as const;

/** Reads a form; undefined where it does not parse, or has a field twice. */
function tryForm<T>(schema: z.ZodType<T>, bytes: Uint8Array): T | undefined {
  const entries = [...new URLSearchParams(new TextDecoder().decode(bytes))];
  const fields = Object.fromEntries(entries);
  if (Object.keys(fields).length !== entries.length) return undefined;
  const parsed = schema.safeParse(fields);
  return parsed.success ? parsed.data : undefined;
}

/** Why a form is refused; undefined for this page's own, also through the operator's proxy. */
function whyNotOurs(
  c: Ask,
  { door, https }: { readonly door: Door; readonly https: boolean },
): string | undefined {
  const { origin, site } = askedBy(c);
  if (origin === undefined) return "it does not say where it comes from";
  const own = URL.canParse(origin) && new URL(origin).host === c.req.header("host")?.toLowerCase();
  if (!own && !(https && door.origin(origin))) return "it comes from somewhere else";
  if (site !== undefined && site !== "same-origin") return "another site sent it";
  return undefined;
}

/** Whether the page is requested as a document: not inside another page, not as script or image. */
function isLookedAt(c: Ask): boolean {
  const { to } = askedBy(c);
  return to === undefined || to === "document";
}

function askedBy(c: Ask): {
  readonly origin: string | undefined;
  readonly site: string | undefined;
  readonly to: string | undefined;
} {
  return {
    origin: c.req.header("origin"),
    site: c.req.header("sec-fetch-site"),
    to: c.req.header("sec-fetch-dest"),
  };
}

/** The cookie that holds a person's session: no script reads it, no other site sends it. */
export interface SessionCookie {
  /** The session of a request; undefined for none, and where there are two. */
  read(header: string | undefined): string | undefined;
  /** The header's value that sets the session. `expiresAt` is milliseconds since 1970. */
  give(session: string, expiresAt: number): string;
  /** The header's value that removes the session. */
  readonly take: string;
}

const SESSION = /^[A-Za-z0-9_-]{32,128}$/;

/** Makes the cookie; over https neither another host nor plain http can set it. */
function makeSessionCookie(https: boolean): SessionCookie {
  const name = https ? "__Host-remit" : "remit_page";
  const more = `Path=/; HttpOnly; SameSite=Strict${https ? "; Secure" : ""}`;
  return Object.freeze<SessionCookie>({
    read(header): string | undefined {
      const found = (header ?? "").split(";").map((each) => each.trim()).filter((each) =>
        each.startsWith(`${name}=`)
      );
      // Of two cookies, another site set one.
      if (found.length !== 1) return undefined;
      const value = (found[0] ?? "").slice(name.length + 1);
      return SESSION.test(value) ? value : undefined;
    },
    give: (session, expiresAt) =>
      `${name}=${session}; ${more}; Expires=${new Date(expiresAt).toUTCString()}`,
    take: `${name}=; ${more}; Max-Age=0`,
  });
}

/** What the page asks of the starter, and its checks. */
export interface PageParts extends PageDoor {
  readonly asks: Pick<ServiceAsks, "pageOpen" | "pageView" | "pageAnswer" | "pageClose">;
  /** Wrong codes by address. */
  readonly failedAttempts: Rates;
  /** Base64 of the style sheet's SHA-256. */
  readonly styleDigest: string;
  /** A text derived from `text` that only this process can compute. */
  seal(text: string): Promise<string>;
}

type View = PageAsk["view"];

const REFRESH_S = 5;
/** Faults whose messages, made safe to show by the starter, go to the logged-in person. */
const TOLD: ReadonlySet<FaultCode> = new Set([
  "refused",
  "stepUpFailed",
  "conflict",
  "unavailable",
]);

/** Adds the page's routes. */
export function servePage(app: Routes, parts: PageParts): void {
  const { asks, failedAttempts } = parts;
  const cookie = makeSessionCookie(parts.https);
  const headers: readonly (readonly [string, string])[] = [
    [
      "content-security-policy",
      `default-src 'none'; style-src 'sha256-${parts.styleDigest}'; form-action 'self'; ` +
      "frame-ancestors 'none'; base-uri 'none'",
    ],
    // A stricter policy would hide the Origin of the page's own forms.
    ["referrer-policy", "same-origin"],
    ["cross-origin-opener-policy", "same-origin"],
    ["content-type", "text/html; charset=utf-8"],
  ];
  const tokenOf = (session: string): Promise<string> => parts.seal(`form ${session}`);

  const show = (c: Ask, status: 200 | 400 | 401 | 404 | 409 | 429 | 503, page: {
    readonly frame: Frame;
    readonly body: Markup;
  }): Response => {
    for (const [name, value] of headers) c.header(name, value);
    return c.body(documentOf(page.frame, page.body), status);
  };
  const login = (
    c: Ask,
    status: 200 | 400 | 401,
    more: Parameters<typeof loginBody>[0],
  ): Response => show(c, status, { frame: { title: "Log in" }, body: loginBody(more) });
  /** Logs out. */
  const out = (c: Ask, say?: string): Response => {
    c.header("set-cookie", cookie.take);
    return login(c, 401, say === undefined ? {} : { say });
  };
  const back = (c: Ask, to: string): Response => {
    for (const [name, value] of headers) if (name !== "content-type") c.header(name, value);
    return c.redirect(to, 303);
  };

  const look = async (c: Ask, view: View, notice?: {
    readonly say: string;
    readonly status: 400 | 409;
  }): Promise<Response> => {
    if (!isLookedAt(c)) return refuse(c, 403, "this page is looked at by itself");
    const session = cookie.read(c.req.header("cookie"));
    if (session === undefined) return login(c, 401, {});
    try {
      const [seen, token] = await Promise.all([asks.pageView({ session, view }), tokenOf(session)]);
      const frame: Frame = {
        ...{ title: seen.title, token },
        // A refresh would interrupt a person who types.
        ...(view.kind === "question" || notice !== undefined ? {} : { refresh: REFRESH_S }),
      };
      const say = notice === undefined ? {} : { say: notice.say };
      return show(c, notice?.status ?? 200, { frame, body: viewBody(seen, { token, ...say }) });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (error.code === "denied") return out(c, "Your session is over.");
      if (error.code === "notFound") return nothing(c);
      if (!TOLD.has(error.code)) throw error;
      const frame = { title: "Not shown", token: await tokenOf(session) };
      return show(c, 409, { frame, body: sayBody(error.message) });
    }
  };

  /** The bytes of a form, or a refusal where this page did not send it. */
  const formOf = async (c: Ask): Promise<Uint8Array | Response> => {
    const why = whyNotOurs(c, parts);
    if (why !== undefined) return refuse(c, 403, `the form is not taken: ${why}`);
    return await wholeBody(c, { ...parts, max: FORM_BYTES });
  };

  app.get("/", (c) => look(c, { kind: "home" }));
  app.get("/task/:id", (c) => {
    const task = TaskId.safeParse(c.req.param("id"));
    return task.success ? look(c, { kind: "task", task: task.data }) : nothing(c);
  });
  app.get("/question/:id", (c) => {
    const question = QuestionId.safeParse(c.req.param("id"));
    return question.success ? look(c, { kind: "question", question: question.data }) : nothing(c);
  });
  app.get("/message/:id", (c) => {
    const message = InboxId.safeParse(c.req.param("id"));
    return message.success ? look(c, { kind: "message", message: message.data }) : nothing(c);
  });

  app.get("/login", (c) => {
    if (!isLookedAt(c)) return refuse(c, 403, "this page is looked at by itself");
    const code = c.req.query("code")?.slice(0, 128);
    return login(c, 200, code === undefined || code === "" ? {} : { code });
  });
  app.post("/login", async (c) => {
    const bytes = await formOf(c);
    if (bytes instanceof Response) return bytes;
    const form = tryForm(FORMS.login, bytes);
    if (form === undefined) return login(c, 400, { say: "That is no code." });
    try {
      const { session, expiresAt } = await asks.pageOpen(form.code);
      c.header("set-cookie", cookie.give(session, expiresAt));
      return back(c, "/");
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "denied") throw error;
      if (!failedAttempts.take(c.env.caller)) return tooMany(c);
      return login(c, 401, { say: "That code is used up, too old, or none of ours." });
    }
  });
  app.post("/logout", async (c) => {
    const bytes = await formOf(c);
    if (bytes instanceof Response) return bytes;
    const session = cookie.read(c.req.header("cookie"));
    const form = tryForm(FORMS.logout, bytes);
    if (session === undefined || form?.token !== await tokenOf(session)) {
      return refuse(c, 403, "the form is not taken: it is of no session of yours");
    }
    await asks.pageClose(session);
    return out(c, "You are logged out.");
  });

  app.post("/question/:id", async (c) => {
    const question = QuestionId.safeParse(c.req.param("id"));
    if (!question.success) return nothing(c);
    const bytes = await formOf(c);
    if (bytes instanceof Response) return bytes;
    const session = cookie.read(c.req.header("cookie"));
    if (session === undefined) return out(c);
    const view: View = { kind: "question", question: question.data };
    const form = tryForm(FORMS.answer, bytes);
    if (form === undefined || form.token !== await tokenOf(session)) {
      return refuse(c, 403, "the form is not taken: it is of no session of yours");
    }
    const { shown, decision, say } = form;
    try {
      await asks.pageAnswer({
        ...{ session, question: question.data, shown, decision },
        ...(say === undefined || say === "" ? {} : { say }),
      });
      return back(c, `/question/${question.data}`);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      switch (error.code) {
        case "denied":
          return out(c, "Your session is over. Nothing was answered.");
        case "notFound":
          return nothing(c);
        case "conflict":
          return await look(c, view, {
            status: 409,
            say: "Nothing was answered: this is no longer what you were shown. Look again.",
          });
        default:
          if (!TOLD.has(error.code)) throw error;
          return await look(c, view, {
            status: 409,
            say: `Nothing was answered. ${error.message}`,
          });
      }
    }
  });
}
