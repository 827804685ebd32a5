/** The demo: a scripted model at a copied desk. @module */
import { basename, join } from "node:path";
import { Fault } from "../contracts/mod.ts";
import type { Command } from "./command.ts";
import type { DiskRead, DiskWrite } from "./hands.ts";
import { has } from "./parse_arguments.ts";
import type { RunDefaults } from "./run_setting.ts";

/** A demo that is ready to run. */
export interface Demo {
  readonly defaults: RunDefaults;
  readonly request: string;
  /** What to say before it starts. */
  readonly lines: readonly string[];
}

const REQUEST_LINES = [
  "Read my notes and the mail in the inbox, and bring the notes",
  "up to date where the mail says so.",
];
const REQUEST = REQUEST_LINES.join(" ");
/** Files beside the desk that steer the demo, and are not part of it. */
const STEERING = new Set(["demo.yaml", "answers.json"]);
const MOST_FILES = 1_000;

function copyFolder(
  disk: DiskRead & DiskWrite,
  from: string,
  to: string,
  left: { files: number },
): void {
  disk.makeFolder(to);
  for (const name of disk.list(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    if (disk.stat(source)?.folder === true) {
      copyFolder(disk, source, target, left);
      continue;
    }
    const bytes = disk.read(source);
    if (bytes === undefined) continue;
    left.files -= 1;
    if (left.files < 0) throw new Fault("tooLarge", "Cannot copy the desk: too many files");
    disk.write(target, bytes, { mode: 0o600 });
  }
}

/** Copies the desk to a fresh temporary folder, which is kept. */
export function prepareDemo(command: Command): Demo {
  const { hands } = command;
  const { paint } = hands.screen;
  const desk = join(hands.around.home, "examples", "desk");
  const scenario = join(desk, "demo.yaml");
  if (hands.disk.read(scenario) === undefined) {
    throw new Fault("notFound", `Cannot run the demo: there is no "${scenario}"`);
  }
  const folder = join(hands.disk.temporary("remit-demo-"), basename(desk));
  hands.disk.makeFolder(folder);
  for (const name of hands.disk.list(desk)) {
    if (STEERING.has(name)) continue;
    const [source, target] = [join(desk, name), join(folder, name)];
    if (hands.disk.stat(source)?.folder === true) {
      copyFolder(hands.disk, source, target, { files: MOST_FILES });
    } else {
      const bytes = hands.disk.read(source);
      if (bytes !== undefined) hands.disk.write(target, bytes, { mode: 0o600 });
    }
  }
  const unattended = hands.keyboard === undefined && !has(command.parsed, "on-question") &&
    !has(command.parsed, "answers");
  const answers = join(desk, "answers.json");
  return {
    request: REQUEST,
    defaults: {
      folder,
      mounts: [{ name: "desk", dir: folder, mode: "stage" }],
      model: `scripted:${scenario}`,
      ...(unattended ? { answersFile: answers } : {}),
    },
    lines: [
      `${
        paint.bold("The Remit demo.")
      } The model is scripted: it plays a part from a file, and no real`,
      "model is asked. One of the mails on this desk carries an injection, and the model",
      "obeys it. Watch what comes of that.",
      "",
      `  desk      ${folder}  ${paint.dim("(a copy, kept)")}`,
      ...REQUEST_LINES.map((line, n) => `  ${n === 0 ? "request " : "        "}  ${line}`),
      ...(unattended
        ? [`  answers   ${answers}  ${paint.dim("(there is no terminal to ask at)")}`]
        : []),
      "",
    ],
  };
}
