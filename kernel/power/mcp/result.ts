/**
 * A server's answer as a result for the gate: RED, labelled and bounded; bytes are kept as
 * artifacts, and links are never followed. Used by bind.ts.
 * @module
 */
import { mixLabel } from "../../../contracts/authority/colour.ts";
import { isPeer } from "../../../contracts/exchange/exchange.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { type Json, type JsonObject, toJson, toJsonObject } from "../../../contracts/base/json.ts";
import type { ImportedServer } from "../../../contracts/exchange/mcp.ts";
import type { GrantedCall, PowerResult } from "../../../contracts/task/power.ts";
import type { McpAnswer, McpChanged, McpPart } from "../../../contracts/wire/wire_mcp.ts";
import type { Artifact } from "../../../contracts/tool/workspace.ts";
import type { McpBindParts } from "./bind.ts";

/** Parts of one result that are kept as artifacts, and their bytes in total. */
const MAX_ARTIFACTS = 32;
const MAX_KEPT_BYTES = 24 * 1_048_576;
/** Characters of an embedded resource's text that are shown beside its reference. */
const MAX_EXCERPT = 2_000;

/** Calls of a task that only return a server's own last result, and pass whatever the server's clearance is. */
const MAX_RETURNS = 16;

/**
 * A server's last result in a task. INVARIANT: arguments that count as the server's own text hold
 * one whole result or nothing, so that no other text can be spelled with pieces of results; only
 * the choice of the tool remains, a bounded number of times (test: "mallory's alphabet …").
 */
export interface LastResult {
  /** Replaces the last result. */
  heard(text: string): void;
  /** Tells whether these arguments hold nothing but the last result. */
  returned(args: JsonObject): boolean;
  /** Counts a call that passed. */
  passed(): void;
}

/** Makes the state of a server without any result yet. */
export function makeLastResult(): LastResult {
  let last: ReadonlySet<string> = new Set(), left = MAX_RETURNS;
  return Object.freeze<LastResult>({
    heard(text): void {
      const value = parsed(text);
      last = new Set([text, text.trim()].map((each) => JSON.stringify(each)));
      if (value !== undefined) last = new Set([...last, JSON.stringify(value)]);
    },
    returned(args): boolean {
      const [value, ...more] = Object.values(args);
      if (left <= 0 || more.length > 0) return false;
      return value === undefined || last.has(JSON.stringify(value));
    },
    passed: () => void left--,
  });
}

/** Converts one server's answers to results. */
interface Results {
  /** Marks a fault's result as RED, because the fault's text may come from the server. */
  judged<T>(answer: Promise<T>): Promise<T>;
  of(call: GrantedCall, answer: McpAnswer): Promise<PowerResult>;
  listed(call: GrantedCall, lines: readonly string[]): PowerResult;
}

/** Makes the results of one server. */
export function makeResults(
  server: ImportedServer,
  { keep, carried, lastResult }: Pick<McpBindParts, "keep" | "carried"> & {
    readonly lastResult: LastResult;
  },
): Results {
  const source = `${isPeer(server.launch) ? "peer" : "mcp"} ${server.name}`;
  const judgement = (call: GrantedCall): Pick<PowerResult, "colour" | "label" | "sources"> => {
    const label = mixLabel(carried.label, call.resolved.label ?? "public");
    return { colour: "RED", label, sources: [{ source, colour: "RED", label }] };
  };

  return Object.freeze<Results>({
    async judged(answer) {
      try {
        return await answer;
      } catch (error) {
        // A call that waits for a person is made again later, so this is no outcome
        if (!(error instanceof Fault) || error.code === "needsApproval") throw error;
        throw new Fault(error.code, error.message, {
          detail: { ...error.detail, colour: "RED", label: carried.label },
          cause: error,
        });
      }
    },
    listed: (call, lines) => ({
      content: lines.length === 0 ? "[it lists nothing]" : lines.join("\n"),
      ...judgement(call),
    }),
    async of(call, answer): Promise<PowerResult> {
      // The server may repeat what it just sent in any later answer
      carried.label = mixLabel(carried.label, answer.label ?? "public");
      const judged = judgement(call);
      const shown: string[] = [];
      const kept: Artifact[] = [];
      let bytesKept = 0;
      const keeping = async (part: McpPart): Promise<string> => {
        const bytes = part.kind === "blob"
          ? decoded(part.data)
          : bytesOfText(part.kind === "resource" ? part.text : "");
        if (bytes === undefined) return "not base64, left out";
        if (kept.length >= MAX_ARTIFACTS || bytesKept + bytes.length > MAX_KEPT_BYTES) {
          return `${bytes.length} bytes, left out: too much for one result`;
        }
        bytesKept += bytes.length;
        const name = artifactName(call.tool, kept.length + 1, part);
        const { colour, label } = judged;
        const artifact = await keep({ name, bytes, colour, label });
        kept.push(artifact);
        return `${bytes.length} bytes, kept as artifact ${artifact.id} (${artifact.name})`;
      };
      for (const part of answer.parts) {
        shown.push(await textOf(part, { keeping, asked: call.args["uri"] }));
      }
      const value = answer.structured === undefined ? undefined : parsed(answer.structured);
      if (value !== undefined && !answer.parts.some(({ kind }) => kind === "text")) {
        shown.push(answer.structured ?? "");
      }
      const { refused = [] } = answer;
      if (refused.length > 0) {
        shown.push(
          `[its walls refused it meanwhile: ${refused.join(", ")}; the operator grants with ` +
            `\`remit mcp grant ${server.name} --read PATH, --write PATH or --net HOST\`]`,
        );
      }
      if (answer.cutBytes > 0) {
        shown.push(`[${answer.cutBytes} bytes of the result were left out]`);
      }
      const [part] = answer.parts;
      if (answer.parts.length === 1 && part?.kind === "text" && answer.cutBytes === 0) {
        lastResult.heard(part.text);
      } else if (answer.structured !== undefined) lastResult.heard(answer.structured);
      const { changed } = answer;
      if (shown.length === 0) shown.push("[an empty result]");
      shown.push(...changedLines(changed));
      const record: JsonObject = {
        ...(kept.length === 0 ? {} : { artifacts: kept.map((artifact) => toJson(artifact)) }),
        ...(changed === undefined || changed.staged.length + changed.unstaged.length === 0
          ? {}
          : toJsonObject({ staged: changed.staged, unstaged: changed.unstaged })),
        ...changed?.applied?.record,
      };
      return {
        content: shown.join("\n"),
        ...judged,
        ...(value === undefined ? {} : { value }),
        ...(answer.records === undefined ? {} : { records: answer.records }),
        ...(answer.isError
          ? {
            failed: `Cannot finish "${call.tool}": the tool says that it failed${
              refused.length === 0 ? "" : ", and its walls refused it something meanwhile"
            }`,
          }
          : {}),
        ...(Object.keys(record).length === 0 ? {} : { record }),
        ...(bytesKept + (changed?.writtenBytes ?? 0) === 0
          ? {}
          : { writtenBytes: bytesKept + (changed?.writtenBytes ?? 0) }),
      };
    },
  });
}

/** Paths that a result names. */
const MAX_NAMED = 20;

/** A call's changes, in lines for a model; the paths in them come from the server. */
function changedLines(changed: McpChanged | undefined): readonly string[] {
  if (changed === undefined) return [];
  const { staged, unstaged, left, withheld, applied } = changed;
  const listed = (what: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : [
      `⟨${what}: ${lines.slice(0, MAX_NAMED).map((line) => JSON.stringify(line)).join(", ")}${
        lines.length > MAX_NAMED ? ` and ${lines.length - MAX_NAMED} more` : ""
      }⟩`,
    ];
  return [
    ...listed("staged; nothing is in the folder before a person has reviewed it", [
      ...staged.map(({ path, base, next }) =>
        `${next === undefined ? "delete" : base === undefined ? "new" : "change"} ${path}`
      ),
    ]),
    ...listed("as the folder has it again", unstaged),
    ...listed("written into the folder", applied?.paths ?? []),
    ...listed("not kept", left),
    ...(withheld === 0 ? [] : [`⟨files that the server was not shown: ${withheld}⟩`]),
  ];
}

async function textOf(
  part: McpPart,
  { keeping, asked }: {
    keeping(part: McpPart): Promise<string>;
    /** The requested URI, whose text is shown whole. */
    readonly asked: Json | undefined;
  },
): Promise<string> {
  switch (part.kind) {
    case "text":
      return part.text;
    case "blob":
      return `[${part.what} ${quoted(part.mimeType)}${
        part.uri === undefined ? "" : ` ${quoted(part.uri)}`
      }: ${await keeping(part)}]`;
    case "link":
      return `[link ${quoted(part.name)}: ${quoted(part.uri)}, not followed]`;
    case "resource": {
      const head = `resource ${quoted(part.uri)}`;
      if (asked !== undefined) return `[${head}]\n${part.text}`;
      const short = part.text.length <= MAX_EXCERPT;
      const where = short ? "" : `: ${await keeping(part)}; it begins`;
      return `[${head}${where}]\n${part.text.slice(0, MAX_EXCERPT)}`;
    }
  }
}

/** The server's text as one line. */
function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 1_024));
}

/** TRUST: from a bridge that read a stranger's bytes. */
function parsed(text: string): Json | undefined {
  try {
    return toJson(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Extensions for known media types; other types get a neutral extension. */
const ENDINGS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "application/pdf": "pdf",
  "application/json": "json",
  "text/plain": "txt",
  "text/markdown": "md",
};

/** `TOOL-1.png`: the server only chooses among the known extensions. */
function artifactName(tool: string, n: number, part: McpPart): string {
  const mime = part.kind === "blob" || part.kind === "resource" ? part.mimeType : undefined;
  const usual = part.kind === "resource" ? "txt" : "bin";
  const known = mime === undefined ? undefined : mime.split(";")[0]?.trim().toLowerCase();
  const ending = known !== undefined && Object.hasOwn(ENDINGS, known) ? ENDINGS[known] : usual;
  return `${tool}-${n}.${ending ?? usual}`;
}

/** The bytes of a base64 text; undefined where it is invalid. */
function decoded(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    return undefined;
  }
}

/** A text's bytes, UTF-8. */
function bytesOfText(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text.toWellFormed());
}
