/** What the kit wants of an executor, by the ids of its messages (its folder `scenarios`). */
import type { PeerPart } from "../../contracts/exchange/exchange.ts";
import type { Scenarios, Step } from "./_a2a_exchanges.ts";

const done: Step = { do: "state", state: "completed" };
const working: Step = { do: "state", state: "working" };
const text = (words: string): PeerPart => ({ kind: "text", text: words });
const file: PeerPart = {
  ...{ kind: "bytes", data: "VENLIGZpbGU=", mediaType: "text/plain", name: "output.txt" },
};
const artifact = (part: PeerPart, more: { append?: boolean; last?: boolean } = {}): Step => ({
  ...{ do: "artifact", id: "artifact-1", part, ...more },
});

/** The scenarios; any other id completes. */
export const KIT_SCENARIOS: Scenarios = {
  "": [{ do: "state", state: "completed", say: "Hello from TCK" }],
  "tck-complete-task": [{ do: "state", state: "completed", say: "Hello from TCK" }],
  "tck-artifact-text": [artifact(text("Generated text content")), done],
  "tck-artifact-file": [artifact(file), done],
  "tck-artifact-file-url": [
    artifact({
      ...{ kind: "link", url: "https://example.com/output.txt" },
      ...{ name: "output.txt", mediaType: "text/plain" },
    }),
    done,
  ],
  "tck-artifact-data": [artifact({ kind: "data", json: '{"count":42,"key":"value"}' }), done],
  "tck-message-response": [
    { do: "state", state: "completed", say: "Direct message response", direct: true },
  ],
  "tck-input-required": [{ do: "state", state: "inputRequired", say: "What else?" }],
  "tck-reject-task": [{ do: "state", state: "rejected", say: "rejected" }],
  "tck-stream-001": [working, artifact(text("Stream hello from TCK")), done],
  "tck-stream-002": [done],
  "tck-stream-003": [working, artifact(text("Stream task lifecycle")), done],
  "tck-stream-ordering-001": [working, artifact(text("Ordered output")), done],
  "tck-stream-artifact-text": [working, artifact(text("Streamed text content")), done],
  "tck-stream-artifact-file": [working, artifact(file), done],
  "tck-stream-artifact-chunked": [
    working,
    artifact(text("chunk-1 "), { last: false }),
    artifact(text("chunk-2"), { append: true }),
    done,
  ],
  "test-resubscribe-message-id": [working, { do: "wait" }, done],
};
