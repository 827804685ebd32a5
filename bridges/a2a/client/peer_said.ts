/** What a peer says beside the result of a call, a message at a time: bounded, and each once. @module */
import type { Part } from "@a2a-js/sdk";
import type { PeerSaid } from "../../../contracts/exchange.ts";
import { PEER_SAID_UNITS } from "../../../contracts/peer_words.ts";
import { cutText } from "../../mcp/client/mod.ts";
import { SAID } from "./limits.ts";

/** A message, without the call that it came during. */
export type Said = Omit<PeerSaid, "id">;

/** What is told of a message. */
export interface SaidParts {
  readonly kind: PeerSaid["kind"];
  /** The peer's own id of it. */
  readonly message: string;
  readonly task: string | undefined;
  readonly parts: readonly Part[];
  readonly label: NonNullable<PeerSaid["label"]>;
}

/** Makes what passes messages on to `tell`: of each kind only so many, and nothing twice. */
export function makeSaying(tell: (said: Said) => void): {
  message(given: SaidParts): void;
  /** Artifacts that are there, and are not shown with the result. */
  ready(
    task: string | undefined,
    artifacts: readonly { readonly id: string; readonly name: string }[],
  ): void;
} {
  const seen = new Set<string>();
  const counts: Record<PeerSaid["kind"], number> = { status: 0, question: 0, artifactReady: 0 };
  const pass = (said: Said): void => {
    const name = JSON.stringify([said.kind, said.message, said.body]);
    if (said.body === "" || seen.has(name) || counts[said.kind] >= SAID[said.kind]) return;
    counts[said.kind] += 1;
    seen.add(name);
    tell(said);
  };
  const ofTask = (task: string | undefined): Pick<Said, "task"> =>
    task === undefined ? {} : { task };
  return Object.freeze({
    message({ kind, message, task, parts, label }: SaidParts): void {
      const units = kind === "question" ? PEER_SAID_UNITS : SAID.statusUnits;
      const body = cutText(parts.map(wordsOf).filter((each) => each !== "").join("\n"), units);
      const told = { kind, message: cutText(message, 1_024), ...ofTask(task), body, artifacts: [] };
      pass(label === "public" ? told : { ...told, label });
    },
    ready(task, artifacts): void {
      const some = artifacts.slice(0, SAID.artifacts);
      const lines = some.map(({ id, name }) => `${JSON.stringify(id)} ${JSON.stringify(name)}`);
      pass({
        ...{ kind: "artifactReady", message: "", ...ofTask(task) },
        body: cutText(lines.join("\n"), SAID.statusUnits),
        artifacts: some.map(({ id }) => cutText(id, 256)),
      });
    },
  });
}

/** A part as words: a link is named and never followed, bytes are counted. */
function wordsOf({ content }: Part): string {
  switch (content?.$case) {
    case "text":
      return content.value;
    case "data":
      return JSON.stringify(content.value ?? null);
    case "url":
      return `⟨link ${JSON.stringify(cutText(content.value, 1_024))}, not followed⟩`;
    case "raw":
      return `⟨${content.value.length} bytes, left out⟩`;
    case undefined:
      return "";
  }
}
