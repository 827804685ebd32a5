/** The remit.yaml files that the person accepted, by folder and digest: STATE/person/trusted.json. @module */
import * as z from "zod";
import { Digest } from "../contracts/authority/mod.ts";
import { Fault } from "../contracts/base/mod.ts";

const Trusted = z.object({
  version: z.literal(1),
  /** Real path of the folder → SHA-256 of its remit.yaml. */
  folders: z.record(z.string().max(4_096), Digest),
}).strict();

/** See {@link parseTrusted}. */
export type Trusted = z.infer<typeof Trusted>;

/** Parses trusted.json; an absent file trusts nothing. Throws `invalidInput` when it is damaged. */
export function parseTrusted(text: string | undefined): Trusted {
  if (text === undefined) return { version: 1, folders: {} };
  try {
    return Trusted.parse(JSON.parse(text));
  } catch (cause) {
    throw new Fault("invalidInput", "Cannot read trusted.json: it is damaged; remove it", {
      cause,
    });
  }
}

/** Whether exactly this content was accepted for this folder. */
export function isTrusted(trusted: Trusted, folder: string, digest: Digest): boolean {
  return Object.entries(trusted.folders).some(([path, pinned]) =>
    path === folder && pinned === digest
  );
}

/** Accepts content for a folder; with undefined, withdraws the acceptance. */
export function withTrust(trusted: Trusted, folder: string, digest: Digest | undefined): Trusted {
  const folders = Object.fromEntries(
    Object.entries(trusted.folders).filter(([path]) => path !== folder),
  );
  return { version: 1, folders: digest === undefined ? folders : { ...folders, [folder]: digest } };
}
