/** Requests of peers' programs to `remit serve`, byte for byte, in both bindings. */

/** A response. */
export interface Told {
  readonly status: number;
  readonly text: string;
  /** Undefined where the body is not JSON. */
  readonly json: unknown;
}

/** A peer that holds a token, or a guess. */
export interface Peer {
  /** One request of JSON-RPC. */
  rpc(method: string, params: object, headers?: Readonly<Record<string, string>>): Promise<Told>;
  /** One request of HTTP+JSON: `path` after `/a2a/v1`. */
  rest(method: string, path: string, body?: object): Promise<Told>;
  /** SendMessage: `message` overrides a message of one text. */
  send(message: object, more?: object): Promise<Told>;
  readonly headers: Readonly<Record<string, string>>;
}

let sent = 0;

/** Makes a peer. */
export function peerAt(url: string, token: string): Peer {
  const headers = {
    authorization: `Bearer ${token}`,
    "a2a-version": "1.0",
    "content-type": "application/json",
  };
  const ask = async (path: string, init: RequestInit): Promise<Told> => {
    const answer = await fetch(`${url}${path}`, { redirect: "manual", ...init });
    const text = await answer.text();
    return { status: answer.status, text, json: parsed(text) };
  };
  const rpc: Peer["rpc"] = (method, params, more = {}) =>
    ask("/a2a", {
      method: "POST",
      headers: { ...headers, ...more },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
  return Object.freeze<Peer>({
    ...{ headers, rpc },
    rest: (method, path, body) =>
      ask(`/a2a/v1${path}`, {
        ...{ method, headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    send: (message, more = {}) =>
      rpc("SendMessage", {
        message: {
          ...{ messageId: `m${++sent}`, role: "ROLE_USER", parts: [{ text: "hello" }] },
          ...message,
        },
        ...more,
      }),
  });
}

/** The task of a JSON-RPC answer. */
export function taskOf({ json, text }: Told): {
  readonly id: string;
  readonly contextId: string;
  readonly state: string;
  readonly words: string;
} {
  const result = Object(Object(json).result);
  const task = Object(result.task ?? result);
  if (typeof task.id !== "string") throw new Error(`Cannot read a task: ${text}`);
  const { state, message } = Object(task.status);
  const parts: readonly { readonly text?: string }[] = Object(message).parts ?? [];
  return {
    ...{ id: task.id, contextId: task.contextId, state },
    words: parts.map(({ text: each = "" }) => each).join(""),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
