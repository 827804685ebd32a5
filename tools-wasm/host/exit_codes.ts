/**
 * Records the results of exports. Extism's JavaScript host discards them, so the function through
 * which it calls exports is wrapped: this file must be imported before Extism, which looks that
 * function up once.
 * @module
 */

/** Calls an export and awaits its asynchronous imports. */
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

/** The last result of `exported` when called through Extism: 0 means success. */
export function exitCodeOf(exported: WeakKey): number | undefined {
  return codes.get(exported);
}
