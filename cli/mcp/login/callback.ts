/** What comes back from the person's browser: believed only if it answers what was asked. RFC 6749, RFC 9207. @module */
import { displayText } from "../../../text/mod.ts";

/** A request to the loopback address. */
export interface CallbackSeen {
  readonly method: string;
  /** Of header `host`; null without one. */
  readonly host: string | null;
  readonly url: URL;
}

/** What was asked. */
export interface CallbackExpected {
  readonly port: number;
  readonly state: string;
  readonly issuer: string;
  /** Every answer of this authorization server says who it is. */
  readonly saysIssuer: boolean;
}

/** What is made of it. Only `code` and `failed` end the login. */
export type Callback =
  | { readonly kind: "nothing"; readonly status: number; readonly page: string }
  | { readonly kind: "code"; readonly code: string; readonly page: string }
  | {
    readonly kind: "failed";
    readonly denied: boolean;
    readonly why: string;
    readonly page: string;
  };

/** The path of the address that a person's browser is sent back to. */
export const CALLBACK_PATH = "/callback";

const AGAIN = "Nothing here belongs to a login that is under way. Look at the terminal.\n";
const ENDED = "Remit did not log in. The terminal says why. You can close this page.\n";
const DONE = "Remit has the answer. You can close this page.\n";

/** Judges one request. Its words are never repeated on the page. */
export function judgeCallback(seen: CallbackSeen, expected: CallbackExpected): Callback {
  const { method, host, url } = seen;
  const nothing = (status: number): Callback => ({ kind: "nothing", status, page: AGAIN });
  // INVARIANT: a page that calls itself by another name for this address reaches nothing (test: "… another name …").
  if (host !== `127.0.0.1:${expected.port}`) return nothing(403);
  if (method !== "GET") return nothing(405);
  if (url.pathname !== CALLBACK_PATH) return nothing(404);
  const { searchParams: said } = url;
  const names = [...said.keys()];
  if (new Set(names).size !== names.length) return nothing(400);
  // Whoever does not know the state cannot end the login either.
  if (said.get("state") !== expected.state) return nothing(400);
  const failed = (why: string, denied = false): Callback => ({
    ...{ kind: "failed", denied, why, page: ENDED },
  });
  const issuer = said.get("iss");
  // Letter by letter, RFC 9207: what looks alike may be somebody else.
  if (issuer === null ? expected.saysIssuer : issuer !== expected.issuer) {
    return failed("the answer is from another authorization server than was asked");
  }
  const error = said.get("error");
  if (error !== null) {
    const more = said.get("error_description");
    const words = [error, ...(more === null ? [] : [more])].map((each) =>
      displayText(each, { max: 200 })
    );
    const denied = error === "access_denied";
    return failed(`the authorization server says ${words.join(": ")}`, denied);
  }
  const code = said.get("code") ?? "";
  if (!/^[\x20-\x7e]{1,4096}$/.test(code)) return failed("the answer holds no code");
  return { kind: "code", code, page: DONE };
}
