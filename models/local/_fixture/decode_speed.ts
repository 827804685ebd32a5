/** How fast a local model writes: through Remit, and the bare engine beside it. For benches. @module */
import assert from "node:assert/strict";
import { bundled } from "../../../port/_fixture/bundled_child.ts";
import { requestOf, said } from "../../_fixture/contract_suite.ts";
import { openLocal } from "./local_process.ts";

/** One answer, measured where the first token and the end are heard. */
export interface DecodeRun {
  /** Milliseconds to the first text. */
  readonly firstMs: number;
  /** Milliseconds from the first text to the end. */
  readonly decodeMs: number;
  readonly tokens: number;
}

/** What is asked: the same of both. */
export interface DecodeOptions {
  readonly runs: number;
  /** Tokens of each answer; the model must not end by itself (`endless`). */
  readonly tokens: number;
  readonly prompt: string;
}

/** Answers through a real model process: port, service, queue, our reading of the answer. */
export async function measureRemit(
  weights: Uint8Array,
  { runs, tokens, prompt }: DecodeOptions,
): Promise<readonly DecodeRun[]> {
  await using local = await openLocal(weights);
  const found: DecodeRun[] = [];
  for (let run = 0; run < runs; run++) {
    const began = performance.now();
    let first = 0;
    const { usage } = await local.model.infer(requestOf([said(prompt)], { maxTokens: tokens }), {
      signal: new AbortController().signal,
      onChunk: () => {
        if (first === 0) first = performance.now();
      },
    });
    const decodeMs = performance.now() - first;
    found.push({ firstMs: first - began, decodeMs, tokens: usage.outputTokens });
  }
  return found;
}

/** The same of the engine's package alone, in a process of its own without permissions. */
export async function measureBare(
  weights: Uint8Array,
  { runs, tokens, prompt }: DecodeOptions,
): Promise<readonly DecodeRun[]> {
  await using built = await bundled(new URL("./bare_engine.ts", import.meta.url));
  const flags = ["--no-prompt", "--no-config", "--no-lock", "--no-remote", "--no-npm"];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", ...flags, "--cached-only", built.file, `${runs}`, `${tokens}`, prompt],
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const input = child.stdin.getWriter();
  await input.write(weights.slice());
  await input.close();
  const { stdout, success } = await child.output();
  assert.ok(success, "the bare engine failed");
  return new TextDecoder().decode(stdout).trim().split("\n").map((line) => JSON.parse(line));
}
