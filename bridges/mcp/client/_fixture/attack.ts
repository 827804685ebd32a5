/** How tests attack a bridge: a scripted server, one call, and the outcome. @module */
import { type BridgeProcess, startBridge } from "../../_fixture/bridge_process.ts";
import { ANSWER, type RawRule, rawServer } from "../../_fixture/raw_server.ts";

/** A message before it is written. */
export type Words = Readonly<Record<string, unknown>>;

/** Calls the tool `x` under these rules: the outcome of this call and of the next, and the oddities. */
export async function attack(
  say: RawRule["say"],
  {
    deadlineMs = 150_000,
    more = [] as readonly RawRule[],
    capabilities = undefined as object | undefined,
  } = {},
): Promise<{ readonly outcome: string; readonly odd: readonly string[]; readonly after: string }> {
  await using bridge = await startBridge(
    rawServer(
      [{ when: "tools/call", say }, { when: "tools/call", say: [ANSWER] }, ...more],
      capabilities,
    ),
    { elicit: () => ({ action: "accept", content: "{}" }) },
  );
  await bridge.open();
  const outcome = await outcomeOf(bridge, deadlineMs);
  // After any attack the next call must be served normally.
  const after = await outcomeOf(bridge, 150_000);
  return { outcome, odd: bridge.odd(), after };
}

/** The text of a result, or the fault. */
export async function outcomeOf(bridge: BridgeProcess, deadlineMs: number): Promise<string> {
  try {
    const { parts } = await bridge.call("x", {}, { deadlineMs });
    return parts.map((part) => part.kind === "text" ? part.text : part.kind).join();
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code}: ${message}`;
  }
}

/** A notification. */
export const notice = (method: string, params: object = {}): Words => ({
  jsonrpc: "2.0",
  method,
  params,
});
/** A request. */
export const asked = (id: unknown, method: string, params: object = {}): Words => (
  { jsonrpc: "2.0", id, method, params }
);

/** Waits until this many answers of ours were sent. */
export async function answersOf(bridge: BridgeProcess, count: number): Promise<readonly string[]> {
  for (;;) {
    const sent = bridge.told.flatMap(({ op, body }) => {
      const text = op === "send" ? (body as { text: string }).text : "";
      return text !== "" && !text.includes('"method"') ? [text] : [];
    });
    if (sent.length >= count) return sent;
    // A round trip through the bridge: what the bridge was about to send comes before the answer.
    await bridge.ask("bytes", { text: "" });
  }
}
