/** An npm registry on this machine for tests: honest, or as its packages specify. @module */
import { createHash, generateKeyPairSync, sign } from "node:crypto";

/** A package of the registry. */
export interface FakePackage {
  readonly name: string;
  readonly version: string;
  /** Files in addition to package.json, by path. */
  readonly files: Readonly<Record<string, string>>;
  /** Fields in addition to name and version, in package.json and in the registry's answer. */
  readonly manifest?: Readonly<Record<string, unknown>>;
  /** Served in place of the archive that matches the integrity. */
  readonly swapped?: Readonly<Record<string, string>>;
  /** How the package is signed; absent: unsigned. */
  readonly signed?: "well" | "badly";
  readonly dist?: Readonly<Record<string, unknown>>;
}

/** A listening registry. */
export interface FakeRegistry {
  readonly url: string;
  /** Requested paths. */
  readonly asked: string[];
  close(): Promise<void>;
}

async function archive(files: Readonly<Record<string, string>>): Promise<Uint8Array<ArrayBuffer>> {
  const blocks: Uint8Array<ArrayBuffer>[] = [];
  const encoder = new TextEncoder();
  for (const [path, text] of Object.entries(files)) {
    const data = encoder.encode(text);
    const head = new Uint8Array(512);
    const put = (at: number, value: string): void => head.set(encoder.encode(value), at);
    put(0, `package/${path}`);
    put(100, "0000644\0");
    put(124, `${data.length.toString(8).padStart(11, "0")}\0`);
    put(136, "00000000000\0");
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\0" + "00");
    const sum = head.reduce((total, byte) => total + byte, 0);
    put(148, `${sum.toString(8).padStart(6, "0")}\0 `);
    const body = new Uint8Array(Math.ceil(data.length / 512) * 512);
    body.set(data);
    blocks.push(head, body);
  }
  blocks.push(new Uint8Array(1024));
  const packed = new Blob(blocks).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

/** Serves packages on a loopback port. */
export async function serveRegistry(packages: readonly FakePackage[]): Promise<FakeRegistry> {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const asked: string[] = [];
  const archives = new Map<string, Uint8Array<ArrayBuffer>>();
  const manifests = new Map<string, Map<string, unknown>>();
  let url = "";
  const serve = (path: string): Response => {
    asked.push(path);
    const found = archives.get(path);
    if (found !== undefined) return new Response(found);
    if (path === "/-/npm/v1/keys") {
      const key = publicKey.export({ format: "der", type: "spki" }).toString("base64");
      return Response.json({
        keys: [{ keyid: "SHA256:test", keytype: "ecdsa-sha2-nistp256", key, expires: null }],
      });
    }
    const [, name = "", version] = /^\/((?:@[^/]+\/)?[^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
    const versions = manifests.get(name);
    if (versions === undefined) return Response.json({ error: "not_found" }, { status: 404 });
    if (version !== undefined) return Response.json(versions.get(version) ?? {});
    const latest = [...versions.keys()].at(-1);
    return Response.json({ name, "dist-tags": { latest }, versions: Object.fromEntries(versions) });
  };
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => undefined },
    (request) => serve(decodeURIComponent(new URL(request.url).pathname)),
  );
  url = `http://127.0.0.1:${server.addr.port}/`;
  for (const each of packages) {
    const { name, version, manifest = {} } = each;
    const own = { name, version, ...manifest };
    const packed = await archive({ "package.json": JSON.stringify(own), ...each.files });
    const integrity = `sha512-${createHash("sha512").update(packed).digest("base64")}`;
    const path = `/-/archives/${name}-${version}.tgz`;
    archives.set(path, each.swapped === undefined ? packed : await archive(each.swapped));
    const message = `${name}@${version}:${each.signed === "badly" ? "other" : integrity}`;
    const sig = sign("sha256", new TextEncoder().encode(message), privateKey).toString("base64");
    const versions = manifests.get(name) ?? new Map<string, unknown>();
    versions.set(version, {
      ...own,
      dist: {
        ...{ tarball: `${url.slice(0, -1)}${path}`, integrity },
        ...(each.signed === undefined ? {} : { signatures: [{ keyid: "SHA256:test", sig }] }),
        ...each.dist,
      },
    });
    manifests.set(name, versions);
  }
  return { url, asked, close: () => server.shutdown() };
}
