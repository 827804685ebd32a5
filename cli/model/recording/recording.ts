/**
 * Recordings: the first line names the model, each further line is an exchange with a provider.
 * `--record` writes a recording; `--replay` runs a task from one without a network.
 * @module
 */
import * as z from "zod";
import { Fault } from "../../../contracts/base/mod.ts";
import { RemoteConfig } from "../../../contracts/model/mod.ts";
import type { TaskRequest } from "../../../contracts/task/mod.ts";
import type { DiskRead, DiskWrite } from "../../../launch/disk/machine.ts";
import { checkWritable } from "../../../launch/disk/output_file.ts";
import { safeJson } from "../../terminal/safe_json.ts";
import { askedIn, makeShorten } from "./bodies.ts";

const Choice = z.object({ ref: z.string().max(1_024), config: RemoteConfig }).strict();

/** The first line of a recording. */
const RecordingHead = z.object({
  v: z.literal(1),
  ref: z.string().max(1_024),
  config: RemoteConfig,
  escalate: z.object({ after: z.int().min(1).max(100), to: Choice }).strict().optional(),
  summarizer: Choice.optional(),
}).strict();
/** The first line of a recording: the model and its configuration. */
export type RecordingHead = z.infer<typeof RecordingHead>;

type Model = TaskRequest["model"];
type OneChoice = { readonly ref: string; readonly config: string };

/** The configuration that decides a model's requests, without what a replay must not do. */
function recordedChoice(
  choice: OneChoice,
): { readonly ref: string; readonly config: RemoteConfig } {
  const {
    record: _record,
    replay: _replay,
    secret: _secret,
    rates: _rates,
    noWait: _noWait,
    ...rest
  } = RemoteConfig.parse(JSON.parse(choice.config));
  return { ref: choice.ref, config: rest };
}

/**
 * Checks before a task starts that a recording can be written to this file.
 *
 * @throws Fault `invalidInput` where it cannot be written, or holds something that is no recording
 */
export function checkRecordingPlace(
  disk: Pick<DiskRead, "read" | "stat"> & Pick<DiskWrite, "append">,
  path: string,
): void {
  const there = disk.stat(path);
  // A recording replaces the file: a device would be lost for everybody.
  if (there !== undefined && !there.plain && !there.folder) {
    throw new Fault(
      "invalidInput",
      `Cannot record to "${path}": it is a device or a pipe; name another file`,
    );
  }
  checkWritable(disk, path, "record to");
  const text = new TextDecoder().decode(disk.read(path));
  const [first = ""] = text.split("\n", 1);
  if (text === "" || tryHead(first) !== undefined) return;
  throw new Fault(
    "invalidInput",
    `Cannot record to "${path}": it holds something that is no recording; name another file`,
  );
}

/** Starts a recording of a model; returns the function that appends an exchange. */
export function startRecording(
  disk: DiskWrite,
  path: string,
  model: Model,
): (exchange: string) => void {
  const head: RecordingHead = {
    v: 1,
    ...recordedChoice(model),
    ...(model.escalate === undefined
      ? {}
      : { escalate: { after: model.escalate.after, to: recordedChoice(model.escalate.to) } }),
    ...(model.summarizer === undefined ? {} : { summarizer: recordedChoice(model.summarizer) }),
  };
  disk.write(path, `${safeJson(head)}\n`, { mode: 0o600 });
  const shorten = makeShorten();
  return (exchange) => disk.append(path, `${shorten(exchange).replaceAll(/[\r\n]/g, " ")}\n`);
}

/** Whether an exchange was with this model; a malformed line counts, so that the service reports it. */
function isOf(line: string, { config }: { readonly config: RemoteConfig }): boolean {
  const asked = askedIn(line);
  if (asked === undefined) return true;
  return asked.url.startsWith(config.url) &&
    (asked.model === undefined || asked.model === config.model);
}

/**
 * Reads a recording as a model that answers from the recording.
 *
 * @throws Fault `notFound` without the file, `invalidInput` for what is no recording, `tooLarge`
 */
export function readRecording(disk: Pick<DiskRead, "read">, path: string, shown: string): Model {
  const bytes = disk.read(path);
  if (bytes === undefined) {
    throw new Fault(
      "notFound",
      `Cannot replay "${shown}": there is no such file; "remit run … --record FILE" makes one`,
    );
  }
  const text = new TextDecoder().decode(bytes);
  const [first = "", ...lines] = text.split("\n");
  const head = parseHead(first, shown);
  const exchanges = lines.filter((line) => line.trim() !== "");
  const several = head.escalate !== undefined || head.summarizer !== undefined;
  const play = (choice: { readonly ref: string; readonly config: RemoteConfig }): OneChoice => {
    const own = several ? exchanges.filter((line) => isOf(line, choice)) : exchanges;
    const parsed = RemoteConfig.safeParse({ ...choice.config, replay: own.join("\n") });
    if (parsed.success) return { ref: choice.ref, config: JSON.stringify(parsed.data) };
    throw new Fault(
      "tooLarge",
      `Cannot replay "${shown}": a recording holds at most 3,000,000 characters`,
    );
  };
  return {
    ...play(head),
    ...(head.escalate === undefined
      ? {}
      : { escalate: { after: head.escalate.after, to: play(head.escalate.to) } }),
    ...(head.summarizer === undefined ? {} : { summarizer: play(head.summarizer) }),
  };
}

function tryHead(line: string): RecordingHead | undefined {
  try {
    return RecordingHead.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function parseHead(line: string, shown: string): RecordingHead {
  const head = tryHead(line);
  if (head !== undefined) return head;
  throw new Fault(
    "invalidInput",
    `Cannot replay "${shown}": its first line does not say which model was recorded; ` +
      '"remit run … --record FILE" makes recordings',
  );
}
