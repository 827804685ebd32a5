/**
 * The way to the network: the tool `http_fetch` as the kernel binds it. A separate process opens
 * the sockets: `net/main.ts`, which answers contracts/wire/wire_net.ts.
 *
 * @example
 * ```ts
 * import { httpFetchBinding, originOf } from "./mod.ts";
 * originOf("https://example.org/"); // "https://example.org"
 * httpFetchBinding().descriptor.name; // "http_fetch"
 * ```
 * @module
 */
export { httpFetchBinding, labelOfAnswer } from "./http_fetch.ts";
export { isPublic } from "./address/ip_ranges.ts";
export { originOf } from "./address/origin.ts";
