/** Describes a plugin to a person before it is added: origin, requests, possible effects. @module */
import { type EffectClass, graverEffect } from "../../contracts/authority/mod.ts";
import {
  HOST_FUNCTION_EFFECT,
  type HostFunction,
  type PluginManifest,
  type PluginTool,
} from "../../contracts/tool/mod.ts";
import { displayText } from "../../text/mod.ts";
import { hardWrap, wordWrap } from "../terminal/columns.ts";
import type { Screen } from "../powers.ts";
import type { ModuleLook } from "../../tools-wasm/kit/kit.ts";
import type { Candidate } from "./source.ts";
import type { SignatureState } from "../../tools-wasm/kit/signature.ts";

const SAYS: Readonly<Record<HostFunction, string>> = {
  "fs.read": "read the files that a call's arguments name",
  "fs.list": "list the folders that a call's arguments name",
  "fs.write": "stage changes of files that a call's arguments name",
  "fs.delete": "stage the deletion of files that a call's arguments name",
  "http.fetch": "send requests to the web, with whatever it was given",
  "tool.call": "call other tools, each judged by itself",
  "model.complete": "ask the task's model, on its budget",
  "memory.query": "ask the memory",
  "secret.use": "have secrets put into its requests, without seeing them",
  log: "write lines to the task's log",
  clock: "know the time",
  random: "have random bytes",
  progress: "show a line while it works",
};

/** A plugin's origin: the state of its signature, or part of this version. */
export type Vouched = SignatureState | "own";

const SIGNED: Readonly<Record<Vouched, string>> = {
  own: "as part of this version of Remit: its plugins share a process",
  none: "by nobody: it runs in a process of its own",
  known: "by a key of remit.yaml: it shares a process with Remit's own plugins",
  unknown: "by a key that remit.yaml does not name: it runs in a process of its own",
  wrong: "WRONGLY: the signature is not of this manifest",
};

const PAGE_KIB = 64;
/** Findings of the gate that are shown. */
const SHOWN = 6;

/** The least effect of a tool's calls: the gravest of its host functions and its own. */
export function effectOf(
  manifest: Pick<PluginManifest, "hostFunctions">,
  tool: Pick<PluginTool, "effect">,
): EffectClass {
  return manifest.hostFunctions.map((fn) => HOST_FUNCTION_EFFECT[fn])
    .reduce(graverEffect, tool.effect ?? "read");
}

/** The facts about a plugin, for programs. */
export function reviewDocument(
  candidate: Candidate,
  signature: Vouched,
): Record<string, unknown> {
  const { manifest, code, look, findings, notes } = candidate;
  return {
    name: manifest.name,
    version: manifest.version,
    licence: manifest.licence,
    engine: manifest.engine,
    sha256: manifest.sha256,
    bytes: code.length,
    signature,
    memoryPages: manifest.memoryPages,
    hostFunctions: manifest.hostFunctions,
    tools: manifest.tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      effect: effectOf(manifest, tool),
      parameters: tool.parameters,
      reads: tool.reads,
      writes: tool.writes,
      ...(tool.fetches === undefined ? {} : { fetches: tool.fetches }),
      deadlineMs: tool.deadlineMs,
    })),
    ...(look === undefined ? {} : lookDocument(look)),
    notes,
    loadGate: { passes: findings.length === 0, findings },
  };
}

/** A module's shape, for programs. */
export function lookDocument(look: ModuleLook): Record<string, unknown> {
  const { imports, exports, memories, start } = look;
  return {
    imports,
    exports,
    memories: memories.map(({ least, most }) => ({ least, most: most ?? null })),
    start,
  };
}

/** A module's shape, as values of lines. */
export function lookFields(look: ModuleLook): readonly (readonly [string, readonly string[]])[] {
  const of = (each: { name: string; kind: string; signature?: string; module?: string }): string =>
    displayText(
      `${each.module === undefined ? "" : `${each.module} `}${each.name}: ${
        each.signature ?? each.kind
      }`,
      { max: 200 },
    );
  return [
    ["imports", look.imports.length === 0 ? ["nothing"] : look.imports.map(of)],
    ["exports", look.exports.length === 0 ? ["nothing"] : look.exports.map(of)],
    [
      "memory",
      look.memories.length === 0
        ? ["none"]
        : look.memories.map(({ least, most }) =>
          `${least} to ${most ?? "any number of"} pages of ${PAGE_KIB} KiB`
        ),
    ],
    ...(look.start ? [["start", ["code runs as soon as it is loaded"]] as const] : []),
  ];
}

/** The load gate's findings, as values of lines. */
export function gateWords(findings: readonly string[]): readonly string[] {
  return findings.length === 0 ? ["it would be let in"] : [
    "it would NOT be let in:",
    ...findings.slice(0, SHOWN).map((each) => displayText(each, { max: 300 })),
    ...(findings.length > SHOWN ? [`and ${findings.length - SHOWN} more`] : []),
  ];
}

/** Lines of fields: a name with its values one below another. Every value must be safe text. */
export function fieldLines(
  screen: Pick<Screen, "paint" | "width">,
  fields: readonly (readonly [string, readonly string[]])[],
): string[] {
  const room = Math.max(24, screen.width - 14);
  return fields.flatMap(([name, values]) =>
    values.flatMap((value) => wordWrap(value, room).flatMap((line) => hardWrap(line, room)))
      .map((line, n) => `  ${screen.paint.bold((n === 0 ? name : "").padEnd(9))} ${line}`.trimEnd())
  );
}

/** The lines of the review. */
export function reviewLines(
  screen: Pick<Screen, "paint" | "width">,
  candidate: Candidate,
  signature: Vouched,
): string[] {
  const { manifest, code, look, findings, notes } = candidate;
  const { paint } = screen;
  const words = (names: readonly string[]): string =>
    names.map((name) => displayText(name)).join(", ");
  const tools = manifest.tools.flatMap((tool) => {
    const effect = effectOf(manifest, tool);
    const touches = [
      ...(tool.reads.length > 0 ? [`reads ${words(tool.reads)}`] : []),
      ...(tool.writes.length > 0 ? [`changes ${words(tool.writes)}`] : []),
      ...(tool.fetches === undefined ? [] : [`fetches ${displayText(tool.fetches)}`]),
    ];
    return [
      [tool.name, `effect ${effect}`, ...touches].join(", "),
      `  ${displayText(tool.description.replaceAll(/\s+/g, " "), { max: 300 })}`,
    ];
  });
  return fieldLines(screen, [
    ["plugin", [
      `${manifest.name} ${manifest.version}, ${manifest.engine}, ${code.length} bytes, ` +
      `licence ${displayText(manifest.licence)}`,
    ]],
    ["sha256", [manifest.sha256]],
    ["signed", [signature === "wrong" ? paint.red(SIGNED[signature]) : SIGNED[signature]]],
    [
      "may",
      manifest.hostFunctions.length === 0
        ? ["nothing but compute on what a call gives it"]
        : manifest.hostFunctions.map((fn) => `${fn}: ${SAYS[fn]}`),
    ],
    ["tools", tools],
    ...(look === undefined
      ? [["memory", [`at most ${manifest.memoryPages * PAGE_KIB} KiB`]] as const]
      : lookFields(look)),
    ...(notes.length === 0 ? [] : [["changed", notes] as const]),
    ["gate", gateWords(findings)],
  ]);
}
