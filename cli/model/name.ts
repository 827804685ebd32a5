/** Parses references to models without looking anything up. @module */
import { Fault, isLoopback } from "../../contracts/base/mod.ts";
import { knownHost } from "./providers.ts";

/** Kinds of providers behind a URL. */
export const PROVIDER_KINDS = ["anthropic", "openai", "ollama"] as const;
/** Backends that are reached by URL: `anthropic`, `openai`, `ollama`. */
export type ProviderKind = typeof PROVIDER_KINDS[number];

/** A parsed reference. */
export type ModelName =
  | { readonly kind: "scripted"; readonly file: string }
  | {
    readonly kind: ProviderKind;
    /** The provider's name for it; undefined where only a URL was given. */
    readonly model: string | undefined;
    /** Canonical: no trailing slash; with its path for `anthropic` and `openai`. */
    readonly url: string;
  }
  /** A file of weights, or a name of the store. */
  | { readonly kind: "gguf"; readonly what: string }
  | { readonly kind: "stored"; readonly name: string };

/** Base URLs of providers by default. */
export const DEFAULT_URL: Readonly<Record<ProviderKind, string>> = {
  anthropic: "https://api.anthropic.com/v1",
  openai: "https://api.openai.com/v1",
  ollama: "http://127.0.0.1:11434",
};

/** The forms of references, for messages. */
const REFERENCES = "anthropic:NAME, openai:NAME@URL, ollama:NAME, gguf:PATH, a URL, " +
  'scripted:FILE, or a name that "remit model list" shows';

const STORED = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Finds an address without a scheme after an @: taken as part of the name, it would send the request to
 * the provider's own host.
 */
const ADDRESS = /.@($|[a-z]+:\/\/|localhost\b|\[|\d+(\.\d+){3}|[\w.-]+:\d+(\/|$))/i;

const wrong = (text: string, why: string): Fault =>
  new Fault("invalidInput", `Cannot use model "${withoutKeys(text)}": ${why}`);

/** A reference that is safe to show: without user, query and fragment, where people put keys. */
export function withoutKeys(text: string): string {
  return text.replace(/(:\/\/)[^/?#]*@/, "$1…@").replace(/(:\/\/[^?#]*[?#]).+$/s, "$1…");
}

/**
 * Makes a provider's base URL canonical, because clearance identifies a model by it.
 *
 * @throws Fault `invalidInput` for what is no http(s) URL, or carries a password, query or fragment
 */
function canonicalUrl(kind: ProviderKind, text: string, shown: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw wrong(shown, "its URL must begin with https:// or http://");
  }
  if (url.username !== "" || url.password !== "") {
    throw wrong(shown, 'a key does not belong into a URL; keep it with "remit secret set"');
  }
  if (url.search !== "" || url.hash !== "") {
    throw wrong(shown, "its URL must end before ? and #");
  }
  const path = url.pathname.replace(/\/+$/, "");
  if (kind === "ollama") return url.origin + path.replace(/\/api$/, "");
  return url.origin + (path === "" ? "/v1" : path);
}

/** The provider of a bare URL, known by its host, else by its path. Throws `invalidInput`. */
function providerOfUrl(text: string): { readonly kind: ProviderKind; readonly url: string } {
  const { hostname, host, pathname } = new URL(text);
  const known = knownHost(host);
  const kind = /(^|\.)anthropic\.com$/.test(hostname)
    ? "anthropic"
    : pathname.includes("/v1") || (known !== undefined && known.kind !== "ollama")
    ? "openai"
    : "ollama";
  const url = canonicalUrl(kind, text, text);
  return { kind, url: known?.kind === kind && pathname === "/" ? known.url : url };
}

/**
 * Parses a reference that is no alias.
 *
 * @throws Fault `invalidInput` that says how references are written
 */
export function parseModelName(text: string): ModelName {
  if (/^https?:\/\//i.test(text)) {
    if (!URL.canParse(text)) throw wrong(text, "that is no URL");
    return { model: undefined, ...providerOfUrl(text) };
  }
  const colon = text.indexOf(":");
  if (colon < 0) {
    if (STORED.test(text)) return { kind: "stored", name: text };
    throw wrong(text, `write ${REFERENCES}`);
  }
  const [kind, rest] = [text.slice(0, colon), text.slice(colon + 1)];
  if (rest === "") throw wrong(text, `write ${REFERENCES}`);
  if (kind === "scripted") return { kind, file: rest };
  if (kind === "gguf") return { kind, what: rest };
  const provider = PROVIDER_KINDS.find((each) => each === kind);
  if (provider === undefined) {
    throw wrong(text, `there is no kind "${kind}"; write ${REFERENCES}`);
  }
  // A model's name may hold an @; only an @ before a URL separates.
  const [, model, url] = /^(.*?)@(https?:\/\/.*)$/i.exec(rest) ?? [undefined, rest, undefined];
  if (model === undefined || !/^[\x21-\x7e]{1,256}$/.test(model)) {
    throw wrong(text, `a model's name is up to 256 visible ASCII characters: ${provider}:NAME`);
  }
  if (url === undefined && ADDRESS.test(model)) {
    throw wrong(text, `its URL must begin with https:// or http://: ${provider}:NAME@URL`);
  }
  return {
    kind: provider,
    model,
    url: url === undefined ? DEFAULT_URL[provider] : canonicalUrl(provider, url, text),
  };
}

/** The canonical reference of a provider's model, by which clearance names it. */
export function providerRef(kind: ProviderKind, model: string, url: string): string {
  return `${kind}:${model}@${url}`;
}

/** Whether a URL's host is this machine. */
export function isThisMachine(url: string): boolean {
  return isLoopback(new URL(url).hostname);
}
