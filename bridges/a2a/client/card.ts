/** Parses a peer's card within limits and chooses an interface. Everything is untrusted. A2A 1.0, section 4.4. @module */
import { isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { parseJson } from "../../../port/parse.ts";
import { cutText, fieldsOf, Malformed, quoted } from "../../mcp/client/mod.ts";
import { CARD_JSON, SKILLS } from "./limits.ts";

/** The supported bindings. */
export type PeerBinding = "JSONRPC" | "HTTP+JSON";

/** A skill that a peer declares. */
export interface PeerSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples: readonly string[];
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
}

interface PeerInterface {
  readonly url: string;
  readonly binding: string;
  readonly version: string;
  readonly tenant: string;
}

/** A protocol extension that a peer declares. */
interface PeerExtension {
  readonly uri: string;
  readonly required: boolean;
  readonly params: JsonObject | undefined;
}

/** A parsed card. */
export interface PeerCard {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly provider: string | undefined;
  readonly interfaces: readonly PeerInterface[];
  readonly skills: readonly PeerSkill[];
  readonly extensions: readonly PeerExtension[];
  readonly streaming: boolean;
  /** Accepted kinds of credentials, such as `http bearer`. */
  readonly schemes: readonly string[];
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
  /** What was left out for its form or size, a sentence each. */
  readonly left: readonly string[];
  /** The whole card, for its signature. */
  readonly raw: JsonObject;
}

const MAX_NOTES = 64;

/**
 * Parses a card.
 *
 * @throws Fault `upstream` for what is no card of protocol 1.0
 */
export function readCard(text: string): PeerCard {
  const raw = objectOf(text);
  const left: string[] = [];
  const note = (sentence: string): void => {
    if (left.length < MAX_NOTES) left.push(cutText(sentence, 512));
  };
  try {
    return cardOf(raw, left, note);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    throw noCard(`its ${error.message}`, error);
  }
}

function objectOf(text: string): JsonObject {
  let raw: Json;
  try {
    raw = parseJson(text, CARD_JSON);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw noCard(error.code === "tooLarge" ? "it is too large" : "it is no JSON", error);
  }
  if (isObject(raw)) return raw;
  throw noCard("it is no object");
}

function noCard(why: string, cause?: unknown): Fault {
  return new Fault("upstream", `Cannot read the peer's card: ${why}`, { cause });
}

function cardOf(raw: JsonObject, left: readonly string[], note: (what: string) => void): PeerCard {
  const fields = fieldsOf(raw);
  const name = fields.needed("name", 256);
  const given = each(fields.list("supportedInterfaces", 32), "interface", note, readInterface);
  if (given.length === 0) {
    const old = fields.text("protocolVersion", 32);
    throw noCard(
      old === undefined
        ? "it names no interface (supportedInterfaces)"
        : `it is one of protocol ${cutText(old, 16)}, and 1.0 is spoken here`,
    );
  }
  const capabilities = fieldsOf(fields.object("capabilities") ?? {});
  const provider = fields.object("provider");
  const all = fields.list("skills", 10_000);
  if (all.length > SKILLS) note(`More than ${SKILLS} skills: the others were left out`);
  const skills = each(all.slice(0, SKILLS), "skill", note, readSkill);
  return {
    ...{ name, raw, left, interfaces: given, skills },
    version: fields.text("version", 128) ?? "",
    description: fields.text("description", 16_384) ?? "",
    provider: provider === undefined ? undefined : fieldsOf(provider).text("organization", 256),
    extensions: each(capabilities.list("extensions", 64), "extension", note, readExtension),
    streaming: capabilities.flag("streaming") ?? false,
    schemes: Object.entries(fields.object("securitySchemes") ?? {}).slice(0, 16)
      .flatMap(([, scheme]) => schemeOf(scheme)),
    inputModes: texts(fields.list("defaultInputModes", 64), 128),
    outputModes: texts(fields.list("defaultOutputModes", 64), 128),
  };
}

function each<T>(
  items: readonly Json[],
  what: string,
  note: (sentence: string) => void,
  read: (item: JsonObject) => T,
): readonly T[] {
  return items.flatMap((item) => {
    if (!isObject(item)) {
      note(`A ${what} is no object`);
      return [];
    }
    try {
      return [read(item)];
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      note(`The ${what} ${quoted(item["id"] ?? item["url"] ?? item["uri"])}: ${error.message}`);
      return [];
    }
  });
}

function readInterface(item: JsonObject): PeerInterface {
  const fields = fieldsOf(item);
  const url = fields.needed("url", 2_048);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) throw new Malformed("url is no address");
  return {
    url,
    binding: fields.needed("protocolBinding", 32),
    version: fields.text("protocolVersion", 32) ?? "",
    tenant: fields.text("tenant", 128) ?? "",
  };
}

function readSkill(item: JsonObject): PeerSkill {
  const fields = fieldsOf(item);
  return {
    id: fields.needed("id", 256),
    name: fields.text("name", 512) ?? "",
    description: fields.text("description", 16_384) ?? "",
    tags: texts(fields.list("tags", 64), 64),
    examples: texts(fields.list("examples", 32), 512),
    inputModes: texts(fields.list("inputModes", 64), 128),
    outputModes: texts(fields.list("outputModes", 64), 128),
  };
}

function readExtension(item: JsonObject): PeerExtension {
  const fields = fieldsOf(item);
  return {
    uri: fields.needed("uri", 512),
    required: fields.flag("required") ?? false,
    params: fields.object("params"),
  };
}

/** `http bearer`, `apiKey`, `oauth2`, `openIdConnect`, `mtls`. */
function schemeOf(scheme: Json): readonly string[] {
  if (!isObject(scheme)) return [];
  const [kind] = Object.keys(scheme);
  if (kind === undefined || !/^[A-Za-z0-9]{1,64}$/.test(kind)) return [];
  const inner = scheme[kind];
  const how = isObject(inner) && typeof inner["scheme"] === "string" ? inner["scheme"] : "";
  const name = kind.replace(/SecurityScheme$/, "").replace(/^httpAuth$/, "http");
  return [cutText(`${name} ${how}`.trim(), 64)];
}

/** The texts of a list, each cut. */
function texts(items: readonly Json[], units: number): readonly string[] {
  return items.filter((item) => typeof item === "string").map((item) => cutText(item, units));
}

/** An interface in a supported binding and version, on the card's own origin. */
export interface Spoken extends Omit<PeerInterface, "binding"> {
  readonly binding: PeerBinding;
}

const BINDINGS: readonly string[] = ["JSONRPC", "HTTP+JSON"] satisfies readonly PeerBinding[];

/**
 * Chooses the interface that was pinned, else the one that a person named, else the first.
 *
 * @throws Fault `upstream` when there is none
 */
export function chooseInterface(
  { interfaces, extensions }: Pick<PeerCard, "interfaces" | "extensions">,
  at: {
    readonly card: string;
    readonly pinned: { readonly endpoint: string; readonly binding: PeerBinding };
  },
): Spoken {
  const required = extensions.find((each) => each.required);
  if (required !== undefined) {
    throw new Fault(
      "upstream",
      `Cannot speak to the peer: it requires the extension ${cutText(required.uri, 200)}`,
    );
  }
  const { origin } = new URL(at.card);
  const spoken = interfaces.flatMap((each): readonly Spoken[] =>
    isBinding(each.binding) && /^1(?:\.|$)/.test(each.version)
      ? [{ ...each, binding: each.binding }]
      : []
  );
  const near = spoken.filter(({ url }) => new URL(url).origin === origin);
  const { endpoint, binding } = at.pinned;
  const found = near.find((each) => each.url === endpoint && each.binding === binding) ??
    near.find((each) => each.url === endpoint) ?? near[0];
  if (found !== undefined) return found;
  const [far] = spoken;
  throw new Fault(
    "upstream",
    far === undefined
      ? `Cannot speak to the peer: its card offers ${
        interfaces.slice(0, 4).map((each) => cutText(`${each.binding} ${each.version}`, 48)).join(
          ", ",
        )
      }, and JSONRPC or HTTP+JSON of 1.0 are spoken here`
      : `Cannot speak to the peer: its card lies at ${origin} and names ${
        new URL(far.url).origin
      }; both must be one origin`,
  );
}

function isBinding(text: string): text is PeerBinding {
  return BINDINGS.includes(text);
}
