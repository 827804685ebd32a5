/**
 * Asks a registry what it says of packages. A program of its own, run in the namespace of a fetch with nothing but that
 * registry's host: what it prints is untrusted, and parsed by bridges/mcp/registry/fetch/npm_facts.ts.
 * @module
 */

/** `[name, version]` of each package: written by the command line. */
const asked = await new Response(Deno.stdin.readable).json() as [string, string][];
const [registry = ""] = Deno.args;
const AT_ONCE = 16;
const EACH_MS = 10_000;
const BYTES = 2_000_000;

async function get(path: string): Promise<unknown> {
  try {
    const answer = await fetch(new URL(path, registry), { signal: AbortSignal.timeout(EACH_MS) });
    if (!answer.ok || answer.body === null) {
      await answer.body?.cancel();
      return undefined;
    }
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let bytes = 0;
    for await (const chunk of answer.body) {
      bytes += chunk.length;
      if (bytes > BYTES) return undefined;
      chunks.push(chunk);
    }
    return await new Response(new Blob(chunks)).json();
  } catch {
    // What it does not say is not known: nothing rests on it.
    return undefined;
  }
}

const said: unknown[] = [];
async function worker(): Promise<void> {
  for (let next = asked.pop(); next !== undefined; next = asked.pop()) {
    const [name, version] = next;
    const manifest = await get(`${name.replace("/", "%2f")}/${version}`) as
      | { deprecated?: unknown; dist?: Record<string, unknown> }
      | undefined;
    const { deprecated, dist } = manifest ?? {};
    if (dist === undefined && deprecated === undefined) continue;
    const { integrity, signatures, attestations } = dist ?? {};
    said.push({ name, version, deprecated, integrity, signatures, attestations });
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, worker));
const signed = said.some((each) => (each as { signatures?: unknown }).signatures !== undefined);
const keys = signed ? await get("-/npm/v1/keys") : undefined;
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify({ said, keys })));
