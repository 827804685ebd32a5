/** From a reference within a book to the name of the entry that it means. @module */

/** Undefined for what leads out of the archive, or to another place than it. */
export function entryName(href: string, from: string): string | undefined {
  const [path = ""] = href.split("#", 1);
  if (path === "" || path.length > 1_024 || path.startsWith("/")) return undefined;
  if (/^[a-z][a-z0-9+.-]*:/i.test(path)) return undefined;
  const segments = from.split("/").slice(0, -1);
  for (const segment of decoded(path).split("/")) {
    if (segment === "..") {
      if (segments.pop() === undefined) return undefined;
    } else if (segment !== "." && segment !== "") segments.push(segment);
  }
  return segments.join("/");
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
}
