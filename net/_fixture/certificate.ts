/** Self-signed certificates, made when a test needs one: the repository holds no key. @module */
import { Buffer } from "node:buffer";

/** A certificate and its key, PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const SEQUENCE = 0x30;
const ECDSA_SHA256 = "1.2.840.10045.4.3.2";
const COMMON_NAME = "2.5.4.3";
const ALT_NAME = "2.5.29.17";

function der(tag: number, ...parts: readonly (readonly number[])[]): readonly number[] {
  const body = parts.flat();
  const { length } = body;
  const size = length < 128
    ? [length]
    : length < 256
    ? [0x81, length]
    : [0x82, length >> 8, length & 255];
  return [tag, ...size, ...body];
}

function oid(text: string): readonly number[] {
  const [a = 0, b = 0, ...rest] = text.split(".").map(Number);
  const bytes = rest.flatMap((value) => {
    const digits = [value & 127];
    for (let left = value >> 7; left > 0; left >>= 7) digits.unshift((left & 127) | 128);
    return digits;
  });
  return der(0x06, [a * 40 + b, ...bytes]);
}

const ascii = (text: string): readonly number[] => [...new TextEncoder().encode(text)];
const time = (ms: number): readonly number[] =>
  der(0x17, ascii(`${new Date(ms).toISOString().replace(/[-:T]/g, "").slice(2, 14)}Z`));
const name = (text: string): readonly number[] =>
  der(SEQUENCE, der(0x31, der(SEQUENCE, oid(COMMON_NAME), der(0x0c, ascii(text)))));
const pem = (what: string, bytes: readonly number[]): string => {
  const lines = Buffer.from(bytes).toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${what}-----\n${lines.join("\n")}\n-----END ${what}-----\n`;
};

/** A DER integer for half of a raw signature. */
function integer(bytes: readonly number[]): readonly number[] {
  const trimmed = [...bytes];
  while (trimmed.length > 1 && trimmed[0] === 0) trimmed.shift();
  return der(0x02, (trimmed[0] ?? 0) > 127 ? [0, ...trimmed] : trimmed);
}

/** Makes a certificate for these host names and IPv4 addresses, valid for a day around now. */
export async function makeCertificate(
  hosts: readonly string[],
  days: { readonly from: number; readonly to: number } = { from: -1, to: 1 },
): Promise<Certificate> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const exported = async (format: "spki" | "pkcs8", key: CryptoKey): Promise<readonly number[]> => [
    ...new Uint8Array(await crypto.subtle.exportKey(format, key)),
  ];
  const now = Date.now();
  const day = 86_400_000;
  const alternatives = hosts.map((host) =>
    /^[0-9.]+$/.test(host) ? der(0x87, host.split(".").map(Number)) : der(0x82, ascii(host))
  );
  const signing = der(SEQUENCE, oid(ECDSA_SHA256));
  const body = der(
    SEQUENCE,
    der(0xa0, der(0x02, [2])),
    integer([...crypto.getRandomValues(new Uint8Array(8))].map((byte, n) => n === 0 ? 1 : byte)),
    signing,
    name("remit test"),
    der(SEQUENCE, time(now + days.from * day), time(now + days.to * day)),
    name("remit test"),
    await exported("spki", keys.publicKey),
    der(
      0xa3,
      der(SEQUENCE, der(SEQUENCE, oid(ALT_NAME), der(0x04, der(SEQUENCE, ...alternatives)))),
    ),
  );
  const raw = [
    ...new Uint8Array(
      await crypto.subtle.sign(
        { name: "ECDSA", hash: "SHA-256" },
        keys.privateKey,
        Uint8Array.from(body),
      ),
    ),
  ];
  const signature = der(SEQUENCE, integer(raw.slice(0, 32)), integer(raw.slice(32)));
  return {
    cert: pem("CERTIFICATE", der(SEQUENCE, body, signing, der(0x03, [0, ...signature]))),
    key: pem(["PRIVATE", "KEY"].join(" "), await exported("pkcs8", keys.privateKey)),
  };
}
