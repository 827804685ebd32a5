/** `${…}` in another host's configuration. @module */
import { namesSecret } from "../../../text/looks_secret.ts";

/** What a text becomes. */
export interface Filled {
  readonly value: string;
  /** Ids of inputs and names of variables that have no value here. */
  readonly missing: readonly string[];
  /** A value in it came from a variable that is named like a key, or from an input. */
  readonly secret: boolean;
}

/** What stands for what. */
export interface FillerParts {
  readonly home: string;
  readonly folder: string;
  readonly variable: (name: string) => string | undefined;
}

/**
 * Makes what fills them: `${env:X}`, `${X}`, `${X:-default}`, `${input:x}`, `${workspaceFolder}`, `${userHome}`, and a
 * leading `~/`. One pass: what a value holds is not filled again.
 */
export function makeFiller({ home, folder, variable }: FillerParts): (text: string) => Filled {
  const places: Readonly<Record<string, string>> = {
    workspaceFolder: folder,
    workspaceRoot: folder,
    userHome: home,
    "/": "/",
    pathSeparator: "/",
  };
  return (text) => {
    const missing: string[] = [];
    let secret = false;
    const known = (name: string, other: string | undefined): string => {
      const value = variable(name) ?? other;
      if (value === undefined) missing.push(name);
      else if (namesSecret(name)) secret = true;
      return value ?? "";
    };
    const value = text.replace(/\$\{([^{}]{1,256})\}/g, (whole: string, inner: string) => {
      const place = Object.hasOwn(places, inner) ? places[inner] : undefined;
      if (place !== undefined) return place;
      const [, kind, name = ""] = /^(env|input):(.*)$/s.exec(inner) ?? [];
      if (kind === "env") return known(name, undefined);
      if (kind === "input") {
        missing.push(name);
        return "";
      }
      const [, plain, other] = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(inner) ?? [];
      return plain === undefined ? whole : known(plain, other);
    });
    const placed = value === "~" || value.startsWith("~/") ? home + value.slice(1) : value;
    return { value: placed, missing, secret };
  };
}
