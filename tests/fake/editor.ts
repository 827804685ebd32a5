/** An editor: it speaks the Agent Client Protocol with a real `remit acp`, over the protocol's own client. */
import {
  client,
  type ClientContext,
  ndJsonStream,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { Machine } from "./remit.ts";

/** An editor and what it saw. */
export interface Editor {
  readonly agent: ClientContext;
  readonly updates: SessionUpdate[];
  readonly asked: RequestPermissionRequest[];
  /** How it answers the next questions. */
  answer: (
    asked: RequestPermissionRequest,
  ) => Promise<
    { readonly outcome: "cancelled" } | { readonly outcome: "selected"; readonly optionId: string }
  >;
  /** Unsaved contents of its buffers, by path; requested where the editor declared that it reads. */
  readonly buffers: Map<string, string>;
  /** All bytes received on standard output. */
  output(): string;
  kill(): Promise<void>;
  ended(): Promise<number>;
}

/** Starts `remit acp` as an editor does. */
export function openEditor(machine: Machine, words: readonly string[]): Editor {
  const [program = "", ...args] = machine.command(["acp", ...words]);
  const child = new Deno.Command(program, {
    args: [...args],
    cwd: machine.dir,
    env: machine.env,
    clearEnv: true,
    ...{ stdin: "piped", stdout: "piped", stderr: "null" },
  }).spawn();
  let output = "";
  const decoder = new TextDecoder();
  const seen = child.stdout.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, to): void {
        output += decoder.decode(chunk, { stream: true });
        to.enqueue(chunk);
      },
    }),
  );
  const [updates, asked]: [SessionUpdate[], RequestPermissionRequest[]] = [[], []];
  const editor: Omit<Editor, "agent"> = {
    ...{ updates, asked, buffers: new Map<string, string>() },
    answer: () => Promise.resolve({ outcome: "cancelled" }),
    output: () => output,
    async kill() {
      child.kill("SIGKILL");
      await child.status;
    },
    ended: async () => {
      await child.stdin.close().catch(() => undefined);
      return (await child.status).code;
    },
  };
  const connection = client()
    .onNotification("session/update", ({ params }) => void updates.push(params.update))
    .onRequest("fs/read_text_file", async ({ params: { path } }) => ({
      content: editor.buffers.get(path) ?? await Deno.readTextFile(path),
    }))
    .onRequest("session/request_permission", async ({ params }) => {
      asked.push(params);
      return { outcome: await editor.answer(params) };
    })
    .connect(ndJsonStream(child.stdin, seen));
  return Object.assign(editor, { agent: connection.agent });
}

/** Texts of updates of a kind. */
export const texts = (
  updates: readonly SessionUpdate[],
  kind: SessionUpdate["sessionUpdate"],
): string =>
  updates.flatMap((update) =>
    update.sessionUpdate === kind && "content" in update && update.content !== null &&
      update.content !== undefined && "text" in update.content
      ? [update.content.text]
      : []
  ).join("");
