/** A command line with one wiki, whose process answers as a test specifies. @module */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Json } from "../../../contracts/base/mod.ts";
import { fakeKeyboard, fakePowers, runCommandLine } from "../../_fixture/world.ts";
import { EMPTY_WIKI, fakeWikis, type WikiOps } from "../../_fixture/wikis.ts";
import type { WikiPowers } from "../../../memory-wiki/host/powers.ts";

/** A digest. */
export const D = "a".repeat(64);
/** The time of the clock. */
export const NOW = 1_700_000_000_000;
/** A page that is RED and secret. */
export const PAGE = {
  ...{ name: "lease", kind: "concept", title: "Lease", aliases: [], version: 3, digest: D },
  ...{ bytes: 1, lines: 2, label: "secret", colour: "RED", confidence: "low", sources: [] },
  ...{ author: "model:x", freshAt: NOW, createdAt: NOW, updatedAt: NOW },
};
/** A patch that waits. */
export const PATCH = {
  ...{ id: "w000000000001", author: "task:t1", reason: "new words", changes: [], colour: "YELLOW" },
  ...{ label: "internal", state: "proposed", createdAt: NOW },
};
/** The answer to an ingest of nothing. */
export const REPORT = { added: 0, changed: 0, unchanged: 0, failed: [] };

/** The surroundings of a command. */
export interface Parts {
  readonly ops: WikiOps;
  readonly types?: readonly string[];
  readonly input?: string;
  readonly fetch?: WikiPowers["fetch"];
  readonly edit?: (file: string) => number;
  readonly env?: Readonly<Record<string, string>>;
  /** A model's answer to the nth question, from 0. */
  readonly says?: (n: number) => string;
}

/** Makes a wiki `w` and discards the output about it. */
export async function rig(parts: Parts) {
  const { ops, types, fetch, edit, says } = parts;
  const wikis = fakeWikis({
    ops: {
      status: () => EMPTY_WIKI,
      extract: () => ({ written: [], unchanged: 0, conflicts: [] }),
      ...ops,
    },
    input: new TextEncoder().encode(parts.input ?? ""),
    ...(fetch === undefined ? {} : { fetch }),
    ...(edit === undefined ? {} : { edit }),
  });
  let asked = 0;
  const ask = () => ({
    ...{ text: says?.(asked++) ?? "{}", finishReason: "stop" },
    ...{ inputTokens: 400, outputTokens: 100, money: 0.01 },
  });
  const powers = fakePowers({
    wikis,
    ...(says === undefined ? {} : { ops: { ask } }),
    ...(types === undefined ? {} : { keyboard: fakeKeyboard(types) }),
    ...(parts.env === undefined ? {} : { env: parts.env }),
  });
  assert.equal(await runCommandLine(["wiki", "init", "w"], powers), 0);
  powers.screen.outs.splice(0);
  powers.screen.lines.splice(0);
  return {
    ...{ powers, wikis },
    run: (...argv: string[]) => runCommandLine(["wiki", ...argv], powers),
    asked: (op: string) => wikis.seen.asked.filter(([each]) => each === op).map(([, body]) => body),
    /** Questions to the model. */
    questions: () => (powers.kernels_.last?.asked ?? []).map(([, each]) => body(each)),
    out: () => powers.screen.outs.join(""),
    said: () => powers.screen.lines.join("\n"),
    work: (name: string, text = name): void => {
      const path = join(powers.environment.cwd, name);
      Deno.mkdirSync(join(path, ".."), { recursive: true });
      Deno.writeTextFileSync(path, text);
    },
  };
}

/** A body as an object. */
export const body = (value: Json | undefined) => value as Record<string, Json>;
