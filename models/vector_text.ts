/** Vectors as they cross a port: little-endian 32-bit floats, base64. @module */

/** A vector as base64. */
export function vectorText(vector: Float32Array): string {
  const bytes = new Uint8Array(vector.length * 4);
  const view = new DataView(bytes.buffer);
  vector.forEach((each, n) => view.setFloat32(n * 4, each, true));
  return bytes.toBase64();
}
