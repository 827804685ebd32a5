/** A worker that makes the calls it is given, past every model, and says what came of each. */
import type { Watched } from "../fake/siege.ts";

/** A call: tool and arguments. */
export type Try = readonly [tool: string, args: Readonly<Record<string, unknown>>];

/** What came of one call. */
export interface Came {
  readonly outcome: string;
  readonly content: string;
  readonly error?: string;
  readonly colour: string;
  readonly label: string;
}

/** The source of a program that makes these calls, one after another, and answers with a JSON array of {@link Came}. */
export function calling(tries: readonly Try[]): string {
  return `({ async turn(ports) {
    const told = [];
    let n = 0;
    for (const [tool, args] of ${JSON.stringify(tries)}) {
      const { id } = await ports.advertise();
      const call = { id: "try-" + n++, name: tool, arguments: JSON.stringify(args) };
      told.push(await ports.call(id, call).catch((e) => ({ outcome: e.code, content: e.message })));
    }
    return { stop: "answered", text: JSON.stringify(told) };
  } })`;
}

/** What came of the calls of a {@link calling} program, once its task has ended. */
export async function cameOf(task: Watched): Promise<readonly Came[]> {
  await task.end;
  return JSON.parse(String((await task.task())["answer"]));
}
