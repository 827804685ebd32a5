/** What a peer said, as the result of a call: first a line of ours, then its parts; links are never followed. @module */
import type { Part } from "@a2a-js/sdk";
import type { McpCallResult, McpPart } from "../../../contracts/wire_mcp.ts";
import { cutText } from "../../mcp/client/mod.ts";
import type { Heard, HeardArtifact } from "./heard.ts";

const TEXT_UNITS = 8_000_000;

/**
 * Makes the result of a message or of a look at a task: what was said last where the task is over, and its artifacts where
 * it is settled. What was said before goes through the inbox, and so does what is asked.
 */
export function resultOf(
  heard: Heard,
  { peer, goesOn }: { readonly peer: string; readonly goesOn: boolean },
): McpCallResult {
  const { task, context, state, dropped } = heard;
  const shown = goesOn ? [] : heard.artifacts;
  const facts = {
    ...(task === undefined ? {} : { task }),
    ...(context === undefined ? {} : { context }),
    state: state ?? "answered",
    ...(shown.length === 0 ? {} : { artifacts: shown.map(({ id }) => cutText(id, 256)) }),
  };
  const parts: McpPart[] = [
    { kind: "text", text: `[peer "${peer}": ${JSON.stringify(facts)}]` },
    ...nextOf(heard, peer, goesOn),
    ...(heard.over ? heard.message : []).flatMap((part) => partOf(part)),
    ...shown.flatMap((each) => [
      { kind: "text" as const, text: headOf(each) },
      ...each.parts.flatMap((part) => partOf(part, each.name)),
    ]),
  ];
  return {
    isError: state === "failed" || state === "rejected" || state === "canceled",
    parts: parts.slice(0, 1_000),
    structured: JSON.stringify(facts),
    cutBytes: dropped,
    ...(heard.label === "public" ? {} : { label: heard.label }),
  };
}

/** Makes the result of fetching one artifact: all of it is kept as an artifact of ours. */
export function artifactResult(
  { id, name, parts }: HeardArtifact,
  { peer, label }: { readonly peer: string; readonly label: McpCallResult["label"] },
): McpCallResult {
  return {
    ...(label === undefined ? {} : { label }),
    isError: false,
    parts: [
      { kind: "text", text: `[artifact ${JSON.stringify(cutText(id, 256))} of peer "${peer}"]` },
      ...parts.flatMap((part) => partOf(part, name, "kept")),
    ],
    cutBytes: 0,
  };
}

function headOf({ id, name }: HeardArtifact): string {
  return `[artifact ${JSON.stringify(cutText(id, 256))}${
    name === "" ? "" : ` ${JSON.stringify(name)}`
  }]`;
}

/** What to do next, in words of ours. */
function nextOf({ task, state }: Heard, peer: string, goesOn: boolean): readonly McpPart[] {
  const say = (text: string): readonly McpPart[] => [{ kind: "text", text: `[${text}]` }];
  if (goesOn && task !== undefined) {
    return say(
      `the task goes on at the peer; a2a_${peer}_task with {"task":${
        JSON.stringify(task)
      },"do":"wait"} waits for more, "cancel" gives it up`,
    );
  }
  if (state === "inputRequired") {
    return say(
      `the peer asks for more; answer with the same tool and "task":${JSON.stringify(task ?? "")}`,
    );
  }
  if (state === "authRequired") {
    return say("the peer wants somebody to sign in with it first; that is the operator's to do");
  }
  return [];
}

function partOf(part: Part, named = "", how: "shown" | "kept" = "shown"): readonly McpPart[] {
  const { content, mediaType, filename } = part;
  const mimeType = mediaType === "" ? "application/octet-stream" : cutText(mediaType, 256);
  switch (content?.$case) {
    case "text":
    case "data": {
      const text = content.$case === "text"
        ? content.value.slice(0, TEXT_UNITS)
        : JSON.stringify(content.value ?? null);
      if (how === "shown") return [{ kind: "text", text }];
      const type = content.$case === "text" ? "text/plain" : "application/json";
      const data = new TextEncoder().encode(text.toWellFormed()).toBase64();
      return [{ kind: "blob", what: "resource", mimeType: type, data }];
    }
    case "raw": {
      const bytes = new Uint8Array(content.value);
      return [{ kind: "blob", what: "resource", mimeType, data: bytes.toBase64() }];
    }
    case "url":
      return [{
        kind: "link",
        uri: cutText(content.value, 4_096),
        name: cutText(filename === "" ? named : filename, 512),
        ...(mediaType === "" ? {} : { mimeType: cutText(mediaType, 256) }),
      }];
    case undefined:
      return [];
  }
}
