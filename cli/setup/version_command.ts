/** `version` and `upgrade`: this version, and whether there is a newer one. @module */
import * as z from "zod";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, printJson, printLines } from "../command.ts";
import { readRegistry } from "../../bridges/mcp/registry/fetch/npm.ts";
import { FORMATS, NPM_NAME, VERSION } from "../../launch/kernel/version.ts";
import type { Basic } from "../powers.ts";

const Latest = z.looseObject({
  version: z.string().regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}(?:-[\w.]{1,32})?$/),
});

/** The values of `--output-format` with their media types, for programs that compose runs. */
const OUTPUT_FORMATS = {
  text: "text/plain",
  json: "application/json",
  "stream-json": "application/jsonl",
};

/** `version`. */
export function versionCommand(command: Command): Promise<number> {
  if (command.json) {
    printJson(command, { version: VERSION, formats: FORMATS, outputFormats: OUTPUT_FORMATS });
  } else {
    printLines(command, [
      `remit ${VERSION}`,
      ...Object.entries(FORMATS).map(([name, version]) => `  ${name.padEnd(8)} format ${version}`),
    ]);
  }
  return Promise.resolve(EXIT.success);
}

/** Whether the semantic version `a` is newer than `b`; a release is newer than its candidates. */
export function isNewer(a: string, b: string): boolean {
  const parts = (text: string): readonly [number[], string] => {
    const [core = "", ...rest] = text.split("-");
    return [core.split(".").map(Number), rest.join("-")];
  };
  const [[coreA, preA], [coreB, preB]] = [parts(a), parts(b)];
  for (const n of [0, 1, 2]) {
    const [x = 0, y = 0] = [coreA[n], coreB[n]];
    if (x !== y) return x > y;
  }
  if (preA === "" || preB === "") return preA === "" && preB !== "";
  const [fieldsA, fieldsB] = [preA.split("."), preB.split(".")];
  for (let n = 0; n < Math.max(fieldsA.length, fieldsB.length); n++) {
    const [x, y] = [fieldsA[n], fieldsB[n]];
    if (x === undefined || y === undefined) return y === undefined;
    if (x === y) continue;
    const [xNumber, yNumber] = [/^\d+$/.test(x), /^\d+$/.test(y)];
    if (xNumber && yNumber) return Number(x) > Number(y);
    return xNumber === yNumber ? x > y : yNumber;
  }
  return false;
}

/** The command that installs another version in the way this one was installed. */
function howTo({ powers }: Command, version: string): string {
  const { home } = powers.environment;
  if (home.includes("/node_modules/")) return `npm install --global ${NPM_NAME}@${version}`;
  if (home === "/usr/lib/remit") return `dpkg -i remit_${version}_all.deb`;
  if (powers.disk.stat(`${home}/.git`) !== undefined) return `git -C ${home} pull`;
  return `unpack remit-${version}.tar.gz in place of ${home}`;
}

/** `upgrade`: asks npm's registry for the newest version; changes nothing. Throws `unavailable` without a registry. */
export async function upgradeCommand(command: Command<Basic | "wikis">): Promise<number> {
  const { powers } = command;
  const { url } = readRegistry(powers.disk, powers.environment);
  if (url === undefined) {
    throw new Fault(
      "unavailable",
      `Cannot ask for a newer version: neither NPM_CONFIG_REGISTRY nor ~/.npmrc names a registry; ` +
        `this is ${VERSION}, and "npm view ${NPM_NAME} version" shows the newest`,
    );
  }
  const address = new URL(`${NPM_NAME}/latest`, url.endsWith("/") ? url : `${url}/`).href;
  const latest = await newest(command, address);
  const newer = isNewer(latest, VERSION);
  const how = newer ? howTo(command, latest) : undefined;
  return command.json
    ? printJson(command, { version: VERSION, latest, newer, how: how ?? null })
    : printLines(
      command,
      how === undefined ? [`remit ${VERSION} is the newest`] : [
        `remit ${latest} is there; this is ${VERSION}`,
        `  ${displayText(how, { max: 1_000 })}`,
        '  stop what runs first ("remit stop"); the state is migrated when the new one first opens it',
      ],
    );
}

async function newest({ powers }: Command<Basic | "wikis">, address: string): Promise<string> {
  let text: string;
  try {
    const { bytes } = await powers.wikis.fetch(address, new AbortController().signal);
    text = new TextDecoder().decode(bytes);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new Fault(
      error.code,
      `Cannot ask for a newer version, this is ${VERSION}: ${error.message}`,
      { cause: error },
    );
  }
  const parsed = Latest.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data.version;
  throw new Fault("upstream", `Cannot ask for a newer version: "${address}" does not say one`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
