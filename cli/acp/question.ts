/** Shows a question of the gate in an editor. @module */
import type { Question } from "../../contracts/authority/mod.ts";
import type { EditorVoice } from "../../bridges/acp/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { DiskRead } from "../../launch/disk/machine.ts";
import { coverWords, earlierLines } from "../question/earlier_lines.ts";
import { planLines } from "../question/plan_frame.ts";
import type { ShownChange } from "../question/shown_content.ts";

const DIFF_LINES = 400;

/** The question about the call `id`; only where `answerable` does it offer a yes. */
export function editorQuestion(
  question: Question,
  { id, answerable, command, changes, unsaved }: {
    readonly id: string;
    readonly answerable: boolean;
    /** The person's command for this program. */
    readonly command: string;
    readonly changes: readonly ShownChange[];
    /** Files with unsaved changes in the editor. */
    readonly unsaved: readonly string[];
  },
): Parameters<EditorVoice["ask"]>[0] {
  const { summary, agents, executes, plan, sources, remember } = question;
  const earlier = earlierLines(question);
  const lines = [
    summary,
    ...(agents === undefined ? [] : [`asked by ${agents.join(" › ")}`]),
    ...unsaved.map((path) =>
      `not saved in your editor: ${path}; this change was made from the disk, and is applied there`
    ),
    ...executes.map((path) => `runs later: ${path}`),
    ...(plan === undefined ? [] : planLines(plan).map(({ text }) => text)),
    ...(earlier === undefined ? [] : [`last call: ${earlier.words}`, ...earlier.lines]),
    ...(question.described === undefined
      ? []
      : [`tool says, as it was reviewed: ${question.described}`]),
    ...sources.filter(({ colour }) => colour !== "BLUE").map(({ source }) => `has read: ${source}`),
    ...(answerable
      ? []
      : [`To allow it, type in a terminal: ${command} answer ${question.id} allow`]),
    ...(remember === undefined ? [] : [`session: ${coverWords(question)}`]),
  ].map((line) => displayText(line, { max: 1_000 }));
  const diffs = changes.map((change) => {
    const left = change.lines.length - DIFF_LINES;
    const more = left > 0 ? `\n… ${left} more lines` : "";
    const shown = change.lines.slice(0, DIFF_LINES).join("\n");
    return `${change.kind} ${change.path}\n\`\`\`diff\n${shown}${more}\n\`\`\``;
  });
  return {
    toolCall: {
      toolCallId: id,
      status: "pending",
      title: displayText(summary, { max: 160 }),
      content: [{
        type: "content",
        content: { type: "text", text: [...lines, ...diffs].join("\n\n") },
      }],
    },
    options: [
      ...(answerable
        ? [{ optionId: "allow", name: "Allow once", kind: "allow_once" as const }]
        : []),
      ...(answerable && remember !== undefined
        ? [{ optionId: "session", name: "Allow for this session", kind: "allow_always" as const }]
        : []),
      { optionId: "deny", name: "Deny", kind: "reject_once" as const },
    ],
  };
}

/** Files of a change whose text in the editor differs from the disk, on which the change is based. */
export async function unsavedOf(
  changes: readonly ShownChange[],
  { pathOf, disk, voice }: {
    pathOf(path: string): string | undefined;
    readonly disk: Pick<DiskRead, "read">;
    readonly voice: Pick<EditorVoice, "text">;
  },
): Promise<readonly string[]> {
  const held = changes.map(async ({ path }) => {
    const at = pathOf(path);
    const bytes = at === undefined ? undefined : disk.read(at);
    if (at === undefined || bytes === undefined) return [];
    const text = await voice.text(at);
    return text === undefined || text === new TextDecoder().decode(bytes) ? [] : [path];
  });
  return (await Promise.all(held)).flat();
}
