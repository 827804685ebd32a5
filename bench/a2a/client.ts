/** A peer as short as one can be: JSON-RPC over `fetch`, and a reader of events. @module */

/** Whom it asks. */
export interface PeerAt {
  readonly url: string;
  readonly token: string;
}

/** One stream: milliseconds to its first event and to its end, and how many events came. */
export interface StreamTimes {
  readonly first: number;
  readonly total: number;
  readonly events: number;
  readonly completed: boolean;
}

/** A request; gives its result. Throws for an error. */
export async function ask(peer: PeerAt, method: string, params: object): Promise<unknown> {
  const response = await post(peer, method, params);
  const { result, error } = await response.json();
  if (error !== undefined) throw new Error(`Cannot ask ${method}: ${JSON.stringify(error)}`);
  return result;
}

/** Sends a message and waits for its answer. Throws unless it is answered. */
export async function send(peer: PeerAt, text: string): Promise<void> {
  const result = JSON.stringify(await ask(peer, "SendMessage", said(text, false)));
  if (!result.includes("06:12") || !result.includes("TASK_STATE_COMPLETED")) {
    throw new Error(`Cannot bench A2A: ${result.slice(0, 1_000)}`);
  }
}

/** Sends a message and waits for nothing; resolves with the task's id. */
export async function begin(peer: PeerAt, text: string): Promise<string> {
  const { task } = await ask(peer, "SendMessage", said(text, true)) as { task: { id: string } };
  return task.id;
}

/** Sends a message and hears everything. */
export async function stream(peer: PeerAt, text: string): Promise<StreamTimes> {
  const from = performance.now();
  const response = await post(peer, "SendStreamingMessage", said(text, false));
  const decoder = new TextDecoder();
  let [rest, first, events, completed] = ["", NaN, 0, false];
  for await (const bytes of response.body ?? []) {
    const whole = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
    rest = whole.pop() ?? "";
    for (const event of whole) {
      if (!event.includes("data: ")) continue;
      if (events++ === 0) first = performance.now() - from;
      completed = event.includes("TASK_STATE_COMPLETED");
    }
  }
  if (!completed) throw new Error(`Cannot bench A2A: a stream ended early: ${rest.slice(0, 500)}`);
  return { first, total: performance.now() - from, events, completed };
}

function said(text: string, returnImmediately: boolean): object {
  const messageId = crypto.randomUUID();
  return {
    message: { messageId, role: "ROLE_USER", parts: [{ text }] },
    configuration: { returnImmediately },
  };
}

async function post({ url, token }: PeerAt, method: string, params: object): Promise<Response> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "a2a-version": "1.0",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  if (response.ok) return response;
  throw new Error(`Cannot ask ${method}: ${response.status} ${await response.text()}`);
}
