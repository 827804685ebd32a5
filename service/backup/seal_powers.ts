/**
 * Seals a backup under a passphrase as an age file (age-encryption.org/v1, one scrypt recipient),
 * so that `age -d` opens it without Remit. Opens such files, and those that earlier versions sealed
 * with AES-256-GCM. Both formats number their pieces and mark the last one, so that no piece can be
 * cut off, moved or added. docs/decision/0065. Used by archive.ts.
 * @module
 */
import { Buffer } from "node:buffer";
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  scryptSync,
  timingSafeEqual,
} from "node:crypto";
import { brokenBackup, type SealedHow } from "./format.ts";

/** The first line of every age file. */
export const AGE = "age-encryption.org/v1";

const PIECE = 65_536;
const TAG = 16;
const KEY = 32;
const FILE_KEY = 16;
/** Logarithms of scrypt's cost: of new files, and the maximum. 17: tenths of a second, 128 MB. */
const COST = 17;
const MAX_COST = 20;
const WRONG = "the passphrase is another, or it was cut off or changed";
const CHACHA = { authTagLength: TAG };
const NO_NONCE = Buffer.alloc(12);

function scrypt(passphrase: string, salt: Uint8Array, cost: number): Uint8Array {
  const N = 2 ** cost;
  const options = { N, r: 8, p: 1, maxmem: 256 * N * 8 };
  return scryptSync(passphrase.normalize("NFC"), salt, KEY, options);
}

const hkdf = (key: Uint8Array, salt: Uint8Array, info: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", key, salt, info, KEY));
const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString("base64").replace(/=+$/, "");
const ageSalt = (salt: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from(`${AGE}/scrypt`), salt]);
const macOf = (head: string, fileKey: Uint8Array): Buffer =>
  createHmac("sha256", hkdf(fileKey, new Uint8Array(), "header")).update(head).digest();

/** Eleven bytes of the piece's number and one byte that marks the last piece. */
function ageNonce(n: number, last: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(n, 5, 6);
  nonce.writeUInt8(last ? 1 : 0, 11);
  return nonce;
}

/** Seals plain bytes. */
export interface Sealer {
  write(bytes: Uint8Array): void;
  /** Seals the last piece. */
  end(): void;
}

/** Begins an age file: passes its header to `give` at once. */
export function sealing(passphrase: string, give: (bytes: Uint8Array) => void): Sealer {
  const [salt, fileKey, nonce] = [randomBytes(16), randomBytes(FILE_KEY), randomBytes(16)];
  const wrap = createCipheriv(
    "chacha20-poly1305",
    scrypt(passphrase, ageSalt(salt), COST),
    NO_NONCE,
    CHACHA,
  );
  const wrapped = Buffer.concat([wrap.update(fileKey), wrap.final(), wrap.getAuthTag()]);
  const head = `${AGE}\n-> scrypt ${base64(salt)} ${COST}\n${base64(wrapped)}\n---`;
  give(Buffer.concat([Buffer.from(`${head} ${base64(macOf(head, fileKey))}\n`), nonce]));
  const key = hkdf(fileKey, nonce, "payload");
  let held = Buffer.alloc(0);
  let n = 0;
  const piece = (bytes: Uint8Array, last: boolean): void => {
    const cipher = createCipheriv("chacha20-poly1305", key, ageNonce(n++, last), CHACHA);
    give(Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]));
  };
  return Object.freeze<Sealer>({
    write(bytes): void {
      held = Buffer.concat([held, bytes]);
      let at = 0;
      for (; held.length - at > PIECE; at += PIECE) piece(held.subarray(at, at + PIECE), false);
      held = held.subarray(at);
    },
    end: () => piece(held, true),
  });
}

/** Reads bytes in pieces of any length; undefined at the end. */
type Read = () => Uint8Array | undefined;
type Opener = Pick<ReturnType<typeof createDecipheriv>, "update" | "final"> & {
  setAuthTag(tag: Uint8Array): unknown;
};

/** Decrypts the pieces from `read`. Throws `invalidInput` for a piece that fails. */
function opening(
  read: Read,
  open: (n: number, last: boolean) => Opener,
): Read {
  let held = Buffer.alloc(0);
  let n = 0;
  let over = false;
  let dry = false;
  return () => {
    if (over) return undefined;
    // One byte beyond a piece shows that the piece is not the last.
    while (!dry && held.length <= PIECE + TAG) {
      const more = read();
      if (more === undefined) dry = true;
      else held = Buffer.concat([held, more]);
    }
    const last = dry && held.length <= PIECE + TAG;
    const sealed = held.subarray(0, Math.min(held.length, PIECE + TAG));
    held = held.subarray(sealed.length);
    over = last;
    if (sealed.length < TAG || (sealed.length === TAG && n > 0)) {
      throw brokenBackup("it is cut off");
    }
    return opened(open(n++, last), sealed);
  };
}

/** Decrypts bytes that end with their tag. Throws `invalidInput`. */
function opened(cipher: Opener, sealed: Uint8Array): Uint8Array {
  try {
    cipher.setAuthTag(sealed.subarray(sealed.length - TAG));
    return Buffer.concat([cipher.update(sealed.subarray(0, -TAG)), cipher.final()]);
  } catch (cause) {
    throw brokenBackup(WRONG, cause);
  }
}

/**
 * Opens an age file after its first line: `line` supplies the header lines, `read` the bytes after
 * the header.
 *
 * @throws Fault `invalidInput` for a wrong passphrase, other recipients, and bytes that were cut
 * off or changed
 */
export function unsealing(
  passphrase: string,
  { line, read }: { line(): string; readonly read: Read },
): Read {
  const [recipient, body, end] = [line(), line(), line()];
  const [, salt = "", cost = ""] = /^-> scrypt ([\w+/]{22}) ([1-9]\d?)$/.exec(recipient) ?? [];
  const [, mac = ""] = /^--- ([\w+/]{43})$/.exec(end) ?? [];
  if (salt === "" || mac === "" || !/^[\w+/]{43}$/.test(body) || Number(cost) > MAX_COST) {
    throw brokenBackup("it is not sealed under a passphrase as Remit seals");
  }
  const wrapping = scrypt(passphrase, ageSalt(Buffer.from(salt, "base64")), Number(cost));
  const unwrap = createDecipheriv("chacha20-poly1305", wrapping, NO_NONCE, CHACHA);
  const fileKey = opened(unwrap, Buffer.from(body, "base64"));
  const real = macOf(`${AGE}\n${recipient}\n${body}\n---`, fileKey);
  if (!timingSafeEqual(real, Buffer.from(mac, "base64"))) throw brokenBackup(WRONG);
  let first = Buffer.alloc(0);
  while (first.length < 16) {
    const more = read();
    if (more === undefined) throw brokenBackup("it is cut off");
    first = Buffer.concat([first, more]);
  }
  const key = hkdf(fileKey, first.subarray(0, 16), "payload");
  let rest: Uint8Array | undefined = first.subarray(16);
  const behind: Read = () => {
    const piece = rest ?? read();
    rest = undefined;
    return piece;
  };
  return opening(
    behind,
    (n, last) => createDecipheriv("chacha20-poly1305", key, ageNonce(n, last), CHACHA),
  );
}

/** Opens a backup of a version before age: `read` supplies the bytes after the first line. */
export function unsealingOld(passphrase: string, { salt, cost }: SealedHow, read: Read): Read {
  const key = scrypt(passphrase, Buffer.from(salt, "base64url"), cost);
  return opening(read, (n, last) => {
    const nonce = Buffer.alloc(12);
    nonce.writeUIntBE(n, 2, 6);
    nonce.writeUInt32BE(last ? 1 : 0, 8);
    return createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG });
  });
}
