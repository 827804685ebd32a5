/** What a first turn over a folder is told by Remit, and what the demo spends, counted by a tokenizer. @module */
import { getEncoding } from "js-tiktoken";
import { BACKENDS, configured, keepKey, planned, says } from "../tests/fake/model_scenes.ts";
import { onMachine } from "../tests/fake/remit.ts";
import type { Row } from "./row.ts";

const REQUEST = "List my folder.";
/** Of ours: the system message, and the table of tools. */
const MOST_FIRST = 2_000;
const MOST_BRIEF = 800;
const MOST_DEMO = 20_000;

interface Sent {
  readonly messages: readonly { readonly role: string; readonly content?: string | null }[];
  readonly tools?: readonly unknown[];
}

/** Tokens of ours in the first turn: as it is, for a small window, and with all tools told; then those of the demo. */
export async function turnBench(): Promise<Row[]> {
  const backend = BACKENDS[1];
  if (backend === undefined) throw new Error("Cannot measure a turn: no provider is known");
  const tokenizer = getEncoding("o200k_base");
  const rows: Row[] = [];
  await onMachine(async (machine) => {
    await using provider = backend.serve();
    await keepKey(machine, backend, provider);
    const words = [...await planned(machine), "--model", backend.ref(provider)];
    const ours = async (...more: readonly string[]): Promise<number> => {
      provider.next(says("Done."));
      const { code, stderr } = await machine.remit(["run", "-p", REQUEST, ...words, ...more]);
      if (code !== 0) throw new Error(`Cannot measure a turn: ${stderr}`);
      // TRUST: a request of our own, as the provider took it.
      const { messages, tools = [] } = JSON.parse(provider.received.at(-1)?.body ?? "{}") as Sent;
      const system = messages.filter(({ role }) => role === "system");
      return tokenizer.encode(JSON.stringify([...system, ...tools])).length;
    };
    const all = await ours("--tools", "all");
    const first = await ours();
    const demo = await machine.remit(["run", "--json"]);
    // TRUST: the document of our own command.
    const { spent } = JSON.parse(demo.stdout) as {
      readonly spent: { readonly inputTokens: number; readonly outputTokens: number };
    };
    const tokens = demo.code === 0 ? spent.inputTokens + spent.outputTokens : NaN;
    await configured(machine, "limits:\n  contextWindow: 8192\n");
    const brief = await ours();
    const of = (name: string, value: number, most: number, baseline = 0): Row => ({
      ...{ name, value, unit: "tokens", baseline, ratio: baseline === 0 ? 0 : value / baseline },
      ...{ target: `≤ ${most} tokens`, ok: value <= most },
    });
    rows.push(
      of("first turn over a folder, beside all tools told", first, MOST_FIRST, all),
      of("first turn in a window of 8,192", brief, MOST_BRIEF, all),
      of("the demo, as its model counts", tokens, MOST_DEMO),
    );
  });
  return rows;
}
