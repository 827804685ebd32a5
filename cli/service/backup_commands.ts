/** `remit backup FILE`, `remit restore FILE`. @module */
import { dirname, join } from "node:path";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, commandText, printJson, printLines } from "../command.ts";
import { flag } from "../arguments/parse_arguments.ts";
import { readPassphrase } from "../key/passphrase.ts";
import { absolute, preparePlaces } from "../../launch/disk/places.ts";
import { VERSION } from "../../launch/kernel/version.ts";
import { backupDisk, readBackup, writeBackup } from "../../service/backup/mod.ts";
import type { Basic } from "../powers.ts";

const MIN_PASSPHRASE = 12;

async function passphraseOf(command: Command<Basic | "keyboard">): Promise<string | undefined> {
  if (flag(command.parsed, "passphrase-file") === undefined) return undefined;
  const text = await readPassphrase(command, "passphrase-file", "passphrase");
  if (text.length >= MIN_PASSPHRASE) return text;
  throw new Fault(
    "invalidInput",
    `Cannot use the passphrase: it has ${MIN_PASSPHRASE} characters at least`,
  );
}

function beneath(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

const megabytes = (bytes: number): string =>
  bytes < 100_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

/** `backup FILE [--passphrase-file FILE]`. */
export async function backupCommand(
  command: Command<Basic | "backup" | "keyboard">,
): Promise<number> {
  const { powers, places, parsed } = command;
  const file = absolute(powers.environment, parsed.args[0] ?? "");
  if (beneath(file, places.state)) {
    throw new Fault(
      "refused",
      `Cannot write the backup into "${places.state}": it is what is copied`,
    );
  }
  if (backupDisk.exists(places.state)) preparePlaces(powers.disk, places, powers.environment.uid);
  const passphrase = await passphraseOf(command);
  const draft = join(places.kernel, `backup-${powers.environment.id("")}`);
  try {
    backupDisk.makeFolder(draft);
    const manifest = await writeBackup({
      ...{ disk: backupDisk, powers: powers.backup, places, file, draft },
      ...{ passphrase, now: powers.environment.now() },
      version: VERSION,
    });
    const { files, head, events, leftOut } = manifest;
    const bytes = files.reduce((sum, each) => sum + each.size, 0);
    if (command.json) {
      printJson(command, { file, files: files.length, bytes, head, events, leftOut });
    } else {
      printLines(command, [
        `${displayText(file, { max: 1_000 })}: ${files.length} files, ${
          megabytes(bytes)
        }, ${events} events`,
        `head ${head}`,
      ]);
      powers.screen.say(
        passphrase === undefined
          ? "It holds your keys as they are on this disk: whoever has it can answer as you."
          : "It is sealed: without the passphrase nobody reads it, and nobody brings it back. `age -d` opens it, too.",
      );
      powers.screen.say(
        "Not in it: weights of models, code of imported servers, folders that are mounted, and the wikis' own folders.",
      );
    }
    return EXIT.success;
  } finally {
    backupDisk.remove(draft);
  }
}

/** `restore FILE [--head HASH] [--passphrase-file FILE]`: into an empty state. */
export async function restoreCommand(
  command: Command<Basic | "backup" | "keyboard">,
): Promise<number> {
  const { powers, places, parsed } = command;
  const file = absolute(powers.environment, parsed.args[0] ?? "");
  if (backupDisk.walk(places.state, () => false).files.length > 0) {
    throw new Fault(
      "alreadyExists",
      `Cannot restore into "${places.state}": there is a state; use another --state DIR, or move it away`,
    );
  }
  const draft = `${places.state}.restoring-${powers.environment.id("")}`;
  const given = await passphraseOf(command);
  const passphrase = (): string => {
    if (given !== undefined) return given;
    throw new Fault("invalidInput", "Cannot open the backup: it is sealed; give --passphrase-file");
  };
  try {
    backupDisk.makeFolder(draft);
    const manifest = readBackup({ disk: backupDisk, file, into: draft, passphrase });
    const head = flag(parsed, "head") ?? manifest.head;
    const log = await powers.backup.verify(join(draft, "kernel", "remit.db"), {
      keyFile: join(draft, "kernel", "receipt_key"),
      head,
    });
    if (!log.ok || log.head !== manifest.head || log.receiptKey !== manifest.receiptKey) {
      throw new Fault(
        "storeCorrupt",
        `Cannot restore: the log in the backup does not hold: ${
          log.ok ? "it is not the one that the manifest names" : log.why
        }`,
      );
    }
    const configs = putConfigs(command, join(draft, "config"));
    backupDisk.makeFolder(dirname(places.state));
    backupDisk.removeEmpty(places.state);
    backupDisk.rename(draft, places.state);
    if (command.json) {
      printJson(command, { state: places.state, events: log.events, head: log.head, configs });
    } else {
      printLines(command, [
        `restored ${
          displayText(places.state, { max: 1_000 })
        }: ${manifest.files.length} files, ${log.events} events`,
        `of ${new Date(manifest.createdAt).toISOString()}, head ${log.head}`,
        ...configs.map(({ name, put }) =>
          put
            ? `  ${name}: put in place`
            : `  ${name}: one is there; the restored one lies in ${places.state}/config`
        ),
      ]);
      powers.screen.say(
        `Tasks that had not ended go on as soon as a kernel starts. Check it: ${
          commandText(command, "audit verify")
        }`,
      );
    }
    return EXIT.success;
  } finally {
    backupDisk.remove(draft);
  }
}

/** Puts remit.yaml and remit.lock where there is none; an existing file stays as it is. */
function putConfigs(
  { powers, places }: Command,
  from: string,
): readonly { readonly name: string; readonly put: boolean }[] {
  const named = [["remit.yaml", places.config], ["remit.lock", places.mcpLock]] as const;
  const putOne = (name: string, to: string): { name: string; put: boolean }[] => {
    const bytes = powers.disk.read(join(from, name));
    if (bytes === undefined) return [];
    const there = powers.disk.read(to);
    if (there !== undefined && Buffer.compare(there, bytes) !== 0) return [{ name, put: false }];
    // The file is in its place: the state needs no second copy.
    backupDisk.remove(join(from, name));
    if (there !== undefined) return [];
    powers.disk.makeFolder(dirname(to));
    powers.disk.write(to, bytes, { mode: 0o600, fresh: true });
    return [{ name, put: true }];
  };
  const put = named.flatMap(([name, to]) => putOne(name, to));
  if (put.every((each) => each.put)) backupDisk.remove(from);
  return put;
}
