/** Remit's own tools that only some tasks have, and what provides them. @module */

const NEEDS: readonly (readonly [name: RegExp, need: string])[] = [
  [
    /^process_(?:start|poll|write|signal|close)$/,
    "remit.yaml grants them: commands: { NAME: { program: PROGRAM, session: true } }, and pty: true for a terminal",
  ],
  [/^(?:wiki_[a-z]+|memory_note)$/, "--wiki FOLDER hands the call a wiki"],
  [/^browser_screenshot$/, "remit.yaml brings it: browser: { engine: chromium }"],
  [/^artifact_read$/, "only a task that works for a peer, or has an imported server, has it"],
  [/^peer_[a-z]+$/, "only a task that works for a peer has it (remit serve)"],
  [/^tool_search$/, "only a task with many imported tools has it"],
  [/^tool_describe$/, "only a task has it whose tools are longer than a provider takes"],
];

/** What provides a tool to a task; undefined for an unknown tool and for one of every task. */
export function needOf(tool: string): string | undefined {
  return NEEDS.find(([name]) => name.test(tool))?.[1];
}
