/** Prepares the demo and the stories: a scripted model at a copied desk. @module */
import { basename, join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { provideStoryPeers } from "../a2a/story_peer.ts";
import { flag, has } from "../arguments/parse_arguments.ts";
import type { Command } from "../command.ts";
import type { Basic } from "../powers.ts";
import type { DiskRead, DiskWrite } from "../../launch/disk/machine.ts";
import { provideStoryServers } from "../mcp/story.ts";
import { provideWiki } from "../wiki/ingest/files.ts";
import type { RunDefaults } from "./run_setting.ts";
import { DEMO, STORIES, type Story } from "./stories.ts";

/** Files that steer the demo, not part of the desk. */
const STEERING = new Set(["demo.yaml", "answers.json"]);
const MAX_FILES = 1_000;

/** Copies a folder, without the entries of these names at its top. `left`: files that may still be copied. */
function copyFolder(
  disk: DiskRead & DiskWrite,
  { from, to, without = new Set() }: {
    readonly from: string;
    readonly to: string;
    readonly without?: ReadonlySet<string>;
  },
  left: { files: number },
): void {
  disk.makeFolder(to);
  for (const name of disk.list(from).filter((each) => !without.has(each))) {
    const [source, target] = [join(from, name), join(to, name)];
    if (disk.stat(source)?.folder === true) {
      copyFolder(disk, { from: source, to: target }, left);
      continue;
    }
    const bytes = disk.read(source);
    if (bytes === undefined) continue;
    left.files -= 1;
    if (left.files < 0) throw new Fault("tooLarge", "Cannot copy the desk: too many files");
    disk.write(target, bytes, { mode: 0o600 });
  }
}

/** The story of `--story`, else the demo. @throws Fault `notFound` that lists all stories */
function chosenStory(command: Command): Story {
  const name = flag(command.parsed, "story");
  if (name === undefined) return DEMO;
  const found = STORIES.find((story) => story.name === name);
  if (found !== undefined) return found;
  const names = STORIES.map((story) => story.name).join(", ");
  throw new Fault("notFound", `Cannot play story "${name}": there are ${names}`);
}

/** Copies the story's desk to a fresh temporary folder (which is kept), serves its site, and makes its wiki. */
export async function prepareDemo(
  command: Command<Basic | "keyboard" | "mcpStore" | "serveSite" | "startPeer" | "wikis">,
): Promise<{
  readonly defaults: RunDefaults;
  readonly request: string;
  /** Lines to show before the start. */
  readonly lines: readonly string[];
  /** Stops its site and peers. */
  close(): Promise<void>;
}> {
  const { powers } = command;
  const { paint } = powers.screen;
  const story = chosenStory(command);
  const examples = join(powers.environment.home, "examples");
  const steering = join(examples, story.steering);
  const scenario = join(steering, "demo.yaml");
  if (powers.disk.read(scenario) === undefined) {
    throw new Fault("notFound", `Cannot run the demo: there is no "${scenario}"`);
  }
  const folder = join(powers.disk.temporary("remit-demo-"), basename(story.desk));
  copyFolder(
    powers.disk,
    { from: join(examples, story.desk), to: folder, without: STEERING },
    { files: MAX_FILES },
  );
  const unattended = powers.keyboard === undefined && !has(command.parsed, "on-question") &&
    !has(command.parsed, "answers");
  const answers = join(steering, "answers.json");
  const site = story.site === undefined ? undefined : powers.serveSite(join(examples, story.site));
  const wiki = story.docs === undefined ? undefined : await provideWiki(command, {
    folder: join(powers.disk.temporary("remit-demo-"), "wiki"),
    docs: join(examples, story.docs),
  });
  const mcp = story.servers === undefined ? undefined : await provideStoryServers(command, folder);
  const peers = story.peers === undefined ? undefined : await provideStoryPeers(command, steering);
  const wish = story.request.map((line) =>
    line.replace("ORIGIN", site?.origin ?? "").replace("DESK", powers.disk.real(folder) ?? folder)
  );
  return {
    request: wish.join(" "),
    defaults: {
      folder,
      mounts: [{ name: "desk", dir: folder, mode: "stage" }],
      model: `scripted:${scenario}`,
      ...(unattended ? { answersFile: answers } : {}),
      ...(site === undefined ? {} : { site: site.origin }),
      ...(wiki === undefined ? {} : { wiki: wiki.folder }),
      ...(mcp === undefined ? {} : { mcp: mcp.servers }),
      ...(peers === undefined ? {} : { mcp: peers.servers }),
    },
    lines: [
      `${
        paint.bold("The Remit demo.")
      } The model is scripted: it plays a part from a file, and no real`,
      `model is asked. ${story.about[0]}`,
      ...story.about.slice(1),
      "",
      `  desk      ${folder}  ${paint.dim("(a copy, kept)")}`,
      ...(wiki === undefined ? [] : [`  wiki      ${wiki.folder}  ${paint.dim("(kept)")}`]),
      ...(mcp === undefined ? [] : mcp.lines),
      ...(peers === undefined ? [] : peers.lines),
      ...wish.map((line, n) => `  ${n === 0 ? "request " : "        "}  ${line}`),
      ...(unattended
        ? [`  answers   ${answers}  ${paint.dim("(there is no terminal to ask at)")}`]
        : []),
      "",
    ],
    async close(): Promise<void> {
      await site?.close();
      await peers?.close();
    },
  };
}
