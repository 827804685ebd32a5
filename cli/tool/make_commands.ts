/** `tool new|build|test|dev|sign`: makes plugins. @module */
import { basename, dirname, join } from "node:path";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { PluginManifest, PluginName } from "../../contracts/tool/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, commandText, printJson, printLines } from "../command.ts";
import { flag, oneOf } from "../arguments/parse_arguments.ts";
import { absolute } from "../../launch/disk/places.ts";
import type { PluginCode, PluginHost } from "../../tools-wasm/kit/kit.ts";
import { gateWords, reviewDocument } from "../plugin/review.ts";
import { checkSignature, signManifest } from "../../tools-wasm/kit/signature.ts";
import { type Candidate, openCandidate } from "../plugin/source.ts";
import {
  type CaseEnd,
  CASES_NAME,
  mismatches,
  parseToolCases,
  type ToolCase,
} from "../../tools-wasm/kit/cases.ts";
import { makeToolWorld } from "../../tools-wasm/kit/world.ts";
import type { Basic } from "../powers.ts";

const SAMPLE = "sample";
const BUILD = "build";
/** The types of templates, which are copied into the new folder. */
const TYPES = "../../../ts/remit.ts";

/** The real path of the command's folder. Throws `notFound`. */
function folderOf(command: Command): string {
  const { powers, parsed } = command;
  const given = parsed.args[0] ?? ".";
  const real = powers.disk.real(absolute(powers.environment, given));
  if (real === undefined || powers.disk.stat(real)?.folder !== true) {
    throw new Fault("notFound", `Cannot find a plugin's folder at "${given}"`);
  }
  return real;
}

/** Copies a template, replaces its name in paths and texts, and returns the names of the files. */
function copyTemplate(command: Command, from: string, to: string, name: string): readonly string[] {
  const { disk } = command.powers;
  disk.makeFolder(to, 0o755);
  return disk.list(from).flatMap((entry) => {
    const [source, target] = [join(from, entry), join(to, entry)];
    if (disk.stat(source)?.folder === true) {
      return copyTemplate(command, source, target, name).map((each) => join(entry, each));
    }
    const text = new TextDecoder().decode(disk.read(source));
    const renamed = text.replaceAll(SAMPLE, name).replace(TYPES, "./remit.ts");
    disk.write(target, renamed, { mode: 0o644 });
    return [entry];
  });
}

/** `tool new NAME [--lang ts|as]`. */
export function toolNew(command: Command): Promise<number> {
  const { powers, parsed } = command;
  const given = parsed.args[0] ?? "";
  const to = absolute(powers.environment, given);
  const name = PluginName.safeParse(basename(to));
  if (!name.success) {
    throw new Fault(
      "invalidInput",
      `Cannot name a plugin "${basename(to)}": a-z, then a-z, 0-9 and _`,
    );
  }
  if (powers.disk.stat(to) !== undefined) {
    throw new Fault("alreadyExists", `Cannot make "${given}": it is there already`);
  }
  const lang = oneOf(parsed, "lang", ["ts", "as"]) ?? "ts";
  const sdk = join(powers.environment.home, "tools-wasm", "sdk");
  const files = copyTemplate(command, join(sdk, "new", lang, SAMPLE), to, name.data);
  if (lang === "ts") {
    // Types for editors alone.
    const types = powers.disk.read(join(sdk, "ts", "remit.ts"));
    if (types !== undefined) powers.disk.write(join(to, "remit.ts"), types, { mode: 0o644 });
  }
  if (command.json) printJson(command, { folder: to, lang, files });
  else {
    printLines(command, [`made ${displayText(to, { max: 500 })}`]);
    const { screen } = powers;
    for (const words of [`tool test ${given}`, `tool dev ${given}`, `tool add ${given}`]) {
      screen.say(`  ${screen.paint.cyan(commandText(command, displayText(words, { max: 500 })))}`);
    }
  }
  return Promise.resolve(EXIT.success);
}

/** Writes a plugin as a folder for `tool add`. */
function writePackage(command: Command, folder: string, { manifest, code }: PluginCode): string {
  const { disk } = command.powers;
  const out = join(folder, BUILD);
  disk.remove(out);
  disk.makeFolder(out, 0o755);
  const file = `${manifest.name}.${manifest.engine === "script" ? "js" : "wasm"}`;
  disk.write(join(out, file), code, { mode: 0o644 });
  disk.write(join(out, `${manifest.name}.json`), `${JSON.stringify(manifest, null, 2)}\n`, {
    mode: 0o644,
  });
  return out;
}

/** Checks the types of a folder and builds it. Throws `invalidInput` with the compiler's messages. */
async function openChecked(
  command: Command<Basic | "plugins">,
  folder: string,
): Promise<Candidate> {
  const { disk, plugins } = command.powers;
  if (disk.stat(join(folder, "tool.ts")) !== undefined) await plugins.check(folder);
  return await openCandidate(command, folder);
}

/** `tool build FOLDER`: into FOLDER/build. */
export async function toolBuild(command: Command<Basic | "plugins">): Promise<number> {
  const folder = folderOf(command);
  const candidate = await openChecked(command, folder);
  const { manifest, code, findings } = candidate;
  const out = writePackage(command, folder, candidate);
  if (command.json) {
    printJson(command, { ...reviewDocument(candidate, "none"), folder: out });
  } else {
    printLines(command, [
      `built ${manifest.name} ${manifest.version}: ${code.length} bytes`,
      `sha256 ${manifest.sha256}`,
      `load gate: ${gateWords(findings).join(" ")}`,
      displayText(out, { max: 500 }),
    ]);
  }
  return findings.length === 0 ? EXIT.success : EXIT.refused;
}

/** `tool sign FOLDER --key FILE`: builds and signs. */
export async function toolSign(command: Command<Basic | "plugins">): Promise<number> {
  const { powers, parsed } = command;
  const keyFile = flag(parsed, "key");
  const make = 'make one with "openssl genpkey -algorithm ed25519 -out FILE"';
  if (keyFile === undefined) {
    throw new Fault(
      "invalidInput",
      `Cannot sign: give --key FILE, an Ed25519 private key in PEM; ${make}`,
    );
  }
  const pem = powers.disk.read(absolute(powers.environment, keyFile));
  if (pem === undefined) {
    throw new Fault("notFound", `Cannot sign: there is no key "${keyFile}"; ${make}`);
  }
  const folder = folderOf(command);
  const { manifest, code } = await openCandidate(command, folder);
  const signed = signManifest(PluginManifest.parse(manifest), new TextDecoder().decode(pem));
  // A built folder is signed in place.
  const built = powers.disk.stat(join(folder, "tool.yaml")) === undefined;
  const out = writePackage(command, built ? dirname(folder) : folder, { manifest: signed, code });
  const key = signed.signature?.key ?? "";
  if (checkSignature(signed, [key]) !== "known") {
    throw new TypeError("Cannot sign: the signature does not verify");
  }
  if (command.json) printJson(command, { folder: out, key, sha256: manifest.sha256 });
  else {
    printLines(command, [`signed ${manifest.name} ${manifest.version}`, `key ${key}`]);
    powers.screen.say(`  add it with "tool add ${displayText(out, { max: 300 })}"`);
    powers.screen.say(`  whose remit.yaml says "toolKeys: [${key}]" trusts it as Remit's own`);
  }
  return EXIT.success;
}

/** Builds and tests once, and prints the result; whether all passed. */
async function testOnce(command: Command<Basic | "plugins">, folder: string): Promise<boolean> {
  const { screen } = command.powers;
  const { candidate, runs } = await runCases(command, folder);
  const passed = runs.every(({ wrong }) => wrong.length === 0);
  if (command.json) {
    printJson(command, {
      plugin: candidate.manifest.name,
      sha256: candidate.manifest.sha256,
      passed,
      cases: runs,
    });
  } else printLines(command, runLines(screen.paint, runs));
  return passed;
}

/** `tool test FOLDER`. */
export async function toolTest(command: Command<Basic | "plugins">): Promise<number> {
  return await testOnce(command, folderOf(command)) ? EXIT.success : EXIT.failure;
}

/** `tool dev FOLDER`: tests now and whenever a file is saved, until Ctrl-C. */
export async function toolDev(
  command: Command<Basic | "interrupts" | "plugins" | "watch">,
): Promise<number> {
  const { powers } = command;
  const folder = folderOf(command);
  const { screen } = powers;
  const stopping = new AbortController();
  const unlisten = powers.interrupts.listen(() => stopping.abort());
  try {
    const changes = powers.watch(folder, stopping.signal)[Symbol.asyncIterator]();
    for (let going = true; going;) {
      try {
        await testOnce(command, folder);
      } catch (error) {
        // Continue after a failed build: the next save may repair it.
        if (!(error instanceof Fault)) throw error;
        for (const line of error.message.split("\n")) {
          screen.say(`${screen.paint.red("FAIL")}  ${displayText(line, { max: 500 })}`);
        }
      }
      screen.hint("waiting for a change; Ctrl-C ends");
      going = (await changes.next()).done !== true;
      screen.hint("");
    }
  } finally {
    unlisten();
  }
  return EXIT.success;
}

// Builds a plugin's folder and runs its cases in a plugin host, a process without permissions.

/** The result of one case. */
interface CaseRun {
  readonly name: string;
  readonly tool: string;
  /** Milliseconds. */
  readonly ms: number;
  /** Deviations from what was expected, untrusted; empty on success. */
  readonly wrong: readonly string[];
  readonly logs: readonly string[];
}

/** The results of a folder's cases. */
interface CaseRuns {
  readonly candidate: Candidate;
  readonly runs: readonly CaseRun[];
}

async function runOne(host: PluginHost, each: ToolCase): Promise<CaseEnd> {
  const world = makeToolWorld(each);
  try {
    const { value, logs } = await host.call(each.tool, each.args, world.serve);
    return { value, logs, writes: world.writes() };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { code, message, detail } = error;
    const told = detail?.["logs"];
    const logs = Array.isArray(told) ? told.filter((line) => typeof line === "string") : [];
    return { fault: { code, message }, logs, writes: world.writes() };
  }
}

/**
 * Builds and tests the plugin in a folder.
 *
 * @throws Fault `notFound` without a `tool_test.yaml`, `invalidInput` when it does not build,
 * `refused` by the load gate
 */
async function runCases(command: Command<Basic | "plugins">, folder: string): Promise<CaseRuns> {
  const { disk, environment, plugins } = command.powers;
  const bytes = disk.read(join(folder, CASES_NAME));
  if (bytes === undefined) {
    throw new Fault("notFound", `Cannot test "${folder}": it has no ${CASES_NAME}`);
  }
  const cases = parseToolCases(new TextDecoder().decode(bytes));
  const candidate = await openChecked(command, folder);
  let host: PluginHost | undefined;
  const runs: CaseRun[] = [];
  try {
    for (const each of cases) {
      // An overrun ended the previous host.
      host ??= await plugins.host(candidate);
      const before = environment.now();
      const end = await runOne(host, each);
      if ("fault" in end && (end.fault.code === "timedOut" || end.fault.code === "gone")) {
        await host.close();
        host = undefined;
      }
      const { logs } = end;
      const wrong = mismatches(each.expect, end);
      runs.push({
        name: each.name ?? each.tool,
        tool: each.tool,
        ms: environment.now() - before,
        wrong,
        logs,
      });
    }
  } finally {
    await host?.close();
  }
  return { candidate, runs };
}

/** Lines about results, safe to show. */
function runLines(
  paint: { readonly green: (text: string) => string; readonly red: (text: string) => string },
  runs: readonly CaseRun[],
): readonly string[] {
  const lines = runs.flatMap(({ name, ms, wrong, logs }) => {
    const title = `${displayText(name, { max: 120 })} (${ms} ms)`;
    if (wrong.length === 0) return [`${paint.green("ok  ")}  ${title}`];
    return [
      `${paint.red("FAIL")}  ${title}`,
      ...wrong.map((each) => `        ${displayText(each, { max: 1_000 })}`),
      ...logs.slice(-20).map((line) => `        log: ${displayText(line, { max: 300 })}`),
    ];
  });
  const failed = runs.filter(({ wrong }) => wrong.length > 0).length;
  return [...lines, `${runs.length - failed} passed, ${failed} failed`];
}
