/**
 * What an export returned. Extism's JavaScript host drops it, so the function through which it calls
 * exports is wrapped: this file is imported before Extism, which looks that function up once.
 * @module
 */

/** A function that calls an export and waits for what it waits for. */
type Caller = () => Promise<unknown>;

const codes = new WeakMap<WeakKey, number>();
const promising: (exported: WeakKey) => Caller = Reflect.get(WebAssembly, "promising");

Reflect.set(WebAssembly, "promising", (exported: WeakKey): Caller => {
  const call = promising(exported);
  return async () => {
    codes.delete(exported);
    const code = await call();
    if (typeof code === "number") codes.set(exported, code);
    return code;
  };
});

/** What `exported` returned the last time that it was called through Extism: 0 says that all is well. */
export function exitCodeOf(exported: WeakKey): number | undefined {
  return codes.get(exported);
}
