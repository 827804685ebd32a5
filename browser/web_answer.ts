/** The kernel's answers from the web, and their form for Chromium. @module */
import type { Protocol } from "puppeteer-core";
import { Fault } from "../contracts/base/fault.ts";
import { isObject, type Json } from "../contracts/base/json.ts";
import { mediaType } from "../text/page_outline.ts";

/** An answer of the host function http.fetch. */
export interface WebAnswer {
  readonly status: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Base64. */
  readonly body: string;
  readonly cut: boolean;
  /** Whether its bytes are UTF-8, whatever its headers say. */
  readonly utf8: boolean;
  /** A redirect that was not followed. */
  readonly stopped?: { readonly location: string; readonly why: string };
}

/**
 * Headers about the connection or other places, or that make Chromium act by itself. Those of CORS would let the page of
 * one origin read the signed-in answers of another.
 */
const LEFT_OUT: ReadonlySet<string> = new Set(
  ("set-cookie set-cookie2 content-length content-encoding transfer-encoding connection keep-alive " +
    "alt-svc strict-transport-security nel report-to reporting-endpoints location refresh link " +
    "content-disposition service-worker-allowed origin-trial accept-ch critical-ch " +
    "speculation-rules clear-site-data www-authenticate proxy-authenticate trailer upgrade " +
    "access-control-allow-origin access-control-allow-credentials access-control-allow-headers " +
    "access-control-allow-methods access-control-allow-private-network " +
    "access-control-expose-headers timing-allow-origin").split(" "),
);
/** Types that are shown as a page. */
const SHOWN =
  /^(text\/|application\/(xhtml\+xml|xml|json|javascript)$|application\/[^;]+\+(json|xml)$|$)/;

/** Parses the kernel's answer. */
export function webAnswerOf(value: Json): WebAnswer {
  if (!isObject(value)) {
    throw new Fault("upstream", "Cannot use the answer of the kernel: it does not parse");
  }
  const { status, url, headers, text, base64, cut, stopped } = value;
  const body = typeof text === "string"
    ? new TextEncoder().encode(text).toBase64()
    : typeof base64 === "string"
    ? base64
    : "";
  const answer = {
    ...{ status: Number(status), url: String(url), body, cut: cut === true },
    utf8: typeof text === "string",
    headers: headers as WebAnswer["headers"],
  };
  if (!isObject(stopped)) return answer;
  const { location, why } = stopped;
  return { ...answer, stopped: { location: String(location), why: String(why) } };
}

/** Why an answer is not shown as a page; undefined when it is. */
export function noPage(answer: WebAnswer): string | undefined {
  const type = mediaType(answer);
  const attached = /^\s*attachment/i.test(answer.headers["content-disposition"] ?? "");
  if (SHOWN.test(type) && !attached) return undefined;
  return `this is no page (${
    type === "" ? "of no named type" : type.slice(0, 80)
  }); browser_download saves it if it is text`;
}

/** Headers for Chromium. */
export function shownHeaders(
  { headers, utf8 }: Pick<WebAnswer, "headers" | "utf8">,
): Protocol.Fetch.HeaderEntry[] {
  return Object.entries(headers)
    .filter(([name]) => !LEFT_OUT.has(name))
    .map(([name, value]) => ({
      name,
      value: name === "content-type" && utf8 ? named(value) : value,
    }));
}

/** Declares the text's actual encoding, so that no reader decodes its bytes differently. */
function named(type: string): string {
  const [kind = ""] = type.split(";");
  return /^\s*text\//i.test(kind) ? `${kind.trim()}; charset=utf-8` : type;
}
