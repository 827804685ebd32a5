/** Which models can be reached now: quickly, and without sending anybody's text. @module */
import { Fault } from "../../contracts/base/mod.ts";
import type { Command } from "../command.ts";
import type { Merged } from "../../config/layers.ts";
import { followAliases } from "./alias.ts";
import { modelParts } from "./choice.ts";
import {
  accelerateCommand,
  findWeights,
  listWeights,
  NATIVE_BUILDS,
  weightsPath,
} from "../../models/weights/mod.ts";
import type { ModelPowers } from "./powers.ts";
import { findKey, type KeyPlace, setCommand } from "./keys.ts";
import { DEFAULT_URL, isThisMachine, type ModelName, parseModelName, withoutKeys } from "./name.ts";
import { KNOWN_PROVIDERS } from "./providers.ts";
import { keysInEnvironment } from "./found.ts";
import { listens, MAX_CONNECT_MS, ollamaPlace, runningOllama } from "./server.ts";
import { absolute } from "../../launch/disk/places.ts";
import type { Basic } from "../powers.ts";

/** The state of a backend or model. `says` holds our own words and remit.yaml's. */
export interface ModelState {
  readonly name: string;
  readonly ref?: string;
  /** Whether a task could start with it now, as far as known. */
  readonly ok: boolean;
  readonly says: string;
}

const MAX_REMOTE_CONNECT_MS = 500;

/** The words for a key's place. */
function keyText(key: KeyPlace): string {
  switch (key.kind) {
    case "kept":
      return `key kept as "${key.secret}"`;
    case "environment":
      return `key in the environment (${key.variable})`;
    case "none":
      return key.needed ? "no key" : "without a key";
  }
}

async function providerState(
  command: Command<Basic | "models">,
  name: Extract<ModelName, { readonly url: string }>,
  key: KeyPlace,
): Promise<Omit<ModelState, "name">> {
  const here = isThisMachine(name.url);
  const open = await listens(
    command.powers.models.http,
    name.url,
    here ? MAX_CONNECT_MS : MAX_REMOTE_CONNECT_MS,
  );
  const { host } = new URL(name.url);
  const reach = open ? `${host} answers` : `${host} cannot be reached`;
  return {
    ok: open && !(key.kind === "none" && key.needed),
    says: key.kind === "none" && key.needed
      ? `${reach}, no key: ${setCommand(name.kind, name.url)}`
      : here && key.kind === "none"
      ? reach
      : `${reach}, ${keyText(key)}`,
  };
}

/** The state of a reference or a name of remit.yaml. */
async function stateOf(
  command: Command<Basic | "models">,
  config: Merged,
  text: string,
): Promise<ModelState> {
  const parts = modelParts(command, config);
  try {
    const { ref, settings } = followAliases(text, config.models);
    const name = parseModelName(ref);
    const row = { name: text, ...(ref === text ? {} : { ref }) };
    if (name.kind === "scripted") {
      const path = absolute(parts.environment, name.file);
      const there = parts.disk.stat(path) !== undefined;
      return { ...row, ok: there, says: there ? "a scripted play" : `there is no file "${path}"` };
    }
    if (name.kind === "gguf" || name.kind === "stored") {
      return { ...row, ...weightsState(command, name) };
    }
    const key = findKey(
      { ...name, ...(settings.secret === undefined ? {} : { secret: settings.secret }) },
      { kept: parts.kept(), env: parts.environment.env },
    );
    return { ...row, ...await providerState(command, name, key) };
  } catch (error) {
    if (error instanceof Fault) return { name: withoutKeys(text), ok: false, says: error.message };
    throw error;
  }
}

function weightsState(
  { powers, places }: Command<Basic | "models">,
  name: Extract<ModelName, { readonly kind: "gguf" | "stored" }>,
): Omit<ModelState, "name"> {
  const called = name.kind === "stored" ? name.name : name.what;
  const stored = findWeights(powers.disk, places, called);
  if (stored !== undefined) {
    const there = powers.models.weights.stat(weightsPath(places, stored.sha256)) !== undefined;
    return { ok: there, says: there ? "in the store" : "its file is gone from the store" };
  }
  if (name.kind === "gguf") {
    const there = powers.models.weights.stat(absolute(powers.environment, called)) !== undefined;
    return { ok: there, says: there ? "a file; its first use pins it" : "there is no such file" };
  }
  return { ok: false, says: "not in the store" };
}

/** The states of all models that remit.yaml names, the chosen one first. */
export async function configuredStates(
  command: Command<Basic | "models">,
  config: Merged,
): Promise<readonly ModelState[]> {
  const names = new Set([
    ...(config.model === undefined ? [] : [config.model]),
    ...Object.keys(config.models),
  ]);
  return await Promise.all([...names].map((name) => stateOf(command, config, name)));
}

/** Configured models and ready backends, for `doctor`. */
export async function reachableStates(
  command: Command<Basic | "models">,
  config: Merged,
): Promise<readonly ModelState[]> {
  const [configured, backends] = await Promise.all([
    configuredStates(command, config),
    backendStates(command, config),
  ]);
  return [...configured, ...backends.filter(({ name, ok }) => ok && name !== "scripted")];
}

/** The states of all kinds of backends. */
export async function backendStates(
  command: Command<Basic | "models">,
  config: Merged,
): Promise<readonly ModelState[]> {
  const { environment, models, disk } = command.powers;
  const parts = modelParts(command, config);
  const kept = parts.kept();
  const keyed = new Set(keysInEnvironment(environment.env).map(({ provider }) => provider.name));
  const providers = KNOWN_PROVIDERS.filter(({ name, kind, url }) =>
    kind !== "ollama" &&
    (name === kind || keyed.has(name) || kept.some(({ origin }) => origin === new URL(url).origin))
  ).map(({ name, kind, url }): ModelState => {
    const [key, trouble] = keyOrTrouble({ kind, url }, { kept, env: environment.env });
    const has = key !== undefined && key.kind !== "none";
    return {
      name: name === kind ? kind : `${kind} (${name})`,
      ref: name === kind ? `${kind}:NAME` : `${kind}:NAME@${url}`,
      ok: has,
      says: has ? keyText(key) : trouble ??
        `no key: ${setCommand(kind, url)}${
          name === "openai" ? "; or any server like it: openai:NAME@URL" : ""
        }`,
    };
  });
  const place = ollamaPlace(environment.env);
  const ollama = await runningOllama(models.http, place);
  const stored = listWeights(disk, command.places).length;
  const engine = enginesText(models);
  return [
    {
      name: "scripted",
      ref: "scripted:FILE",
      ok: true,
      says: "plays a part from a file: no model",
    },
    ...providers,
    {
      name: "ollama",
      ref: place === DEFAULT_URL.ollama ? "ollama:NAME" : `ollama:NAME@${place}`,
      ok: ollama !== undefined && ollama.length > 0,
      says: ollama === undefined
        ? `does not run at ${place}; "ollama serve" starts it`
        : ollama.length === 0
        ? 'runs, and has no model; "ollama pull NAME" gets one'
        : `runs with ${ollama.slice(0, 12).join(", ")}${ollama.length > 12 ? ", …" : ""}`,
    },
    {
      name: "gguf",
      ref: "gguf:PATH",
      ok: true,
      says: `in WASM, without any rights; ${engine}; ${stored} in the store`,
    },
  ];
}

/** The builds of the native engine that were fetched, in words. */
function enginesText({ engine }: Pick<ModelPowers, "engine">): string {
  const engines = NATIVE_BUILDS.map((build) => ({ build, at: engine(build) }))
    .filter(({ at }) => at.offer !== undefined);
  if (engines.length === 0) return "no native engine for this system";
  const there = engines.filter(({ at }) => at.found() !== undefined);
  return there.length === 0
    ? `native engine not fetched ("${accelerateCommand("cpu")}")`
    : `native engine there for ${there.map(({ build }) => build).join(", ")}`;
}

function keyOrTrouble(
  model: Parameters<typeof findKey>[0],
  parts: Parameters<typeof findKey>[1],
): readonly [KeyPlace | undefined, string | undefined] {
  try {
    return [findKey(model, parts), undefined];
  } catch (error) {
    if (error instanceof Fault) return [undefined, error.message];
    throw error;
  }
}
