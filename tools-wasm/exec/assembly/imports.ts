/** The glue's imports: from Extism (x_) and from QuickJS (q_). */

// @ts-ignore: an import of the module
@external("extism:host/env", "alloc") export declare function x_alloc(bytes: u64): u64;
// @ts-ignore: an import of the module
@external("extism:host/env", "free") export declare function x_free(block: u64): void;
// @ts-ignore: an import of the module
@external("extism:host/env", "length") export declare function x_length(block: u64): u64;
// @ts-ignore: an import of the module
@external("extism:host/env", "input_length") export declare function x_inputLength(): u64;
// @ts-ignore: an import of the module
@external("extism:host/env", "output_set") export declare function x_output(block: u64, bytes: u64): void;
// @ts-ignore: an import of the module
@external("extism:host/user", "block_read") export declare function x_blockRead(block: u64, at: usize): void;
// @ts-ignore: an import of the module
@external("extism:host/user", "block_write") export declare function x_blockWrite(block: u64, from: usize, bytes: usize): void;
// @ts-ignore: an import of the module
@external("extism:host/user", "input_read") export declare function x_inputRead(at: usize): void;
// @ts-ignore: an import of the module
@external("extism:host/user", "host_call") export declare function x_hostCall(block: u64): u64;

// @ts-ignore: an import of the module
@external("qjs", "qjs_init") export declare function q_init(): i32;
// @ts-ignore: an import of the module
@external("qjs", "qjs_set_memory_limit") export declare function q_setMemoryLimit(bytes: usize): void;
// @ts-ignore: an import of the module
@external("qjs", "qjs_set_max_stack_size") export declare function q_setStackSize(bytes: usize): void;
// @ts-ignore: an import of the module
@external("qjs", "qjs_set_promise_rejection_handler") export declare function q_setRejectionHandler(on: i32): void;
// @ts-ignore: an import of the module
@external("qjs", "qjs_run_gc") export declare function q_collect(): void;
// @ts-ignore: an import of the module
@external("qjs", "wasm_malloc") export declare function q_malloc(bytes: usize): usize;
// @ts-ignore: an import of the module
@external("qjs", "wasm_free") export declare function q_free(at: usize): void;
// @ts-ignore: an import of the module
@external("qjs", "qjs_eval_bytecode") export declare function q_evalBytecode(code: usize, bytes: usize): usize;
// @ts-ignore: an import of the module
@external("qjs", "qjs_eval") export declare function q_eval(code: usize, bytes: usize, name: usize, flags: i32): usize;
// @ts-ignore: an import of the module
@external("qjs", "qjs_call") export declare function q_call(fn: usize, self: usize, argc: i32, argv: usize): usize;
// @ts-ignore: an import of the module
@external("qjs", "qjs_is_exception") export declare function q_isException(value: usize): i32;
// @ts-ignore: an import of the module
@external("qjs", "qjs_is_string") export declare function q_isString(value: usize): i32;
// @ts-ignore: an import of the module
@external("qjs", "qjs_get_exception") export declare function q_takeException(): usize;
// @ts-ignore: an import of the module
@external("qjs", "qjs_get_undefined") export declare function q_undefined(): usize;
// @ts-ignore: an import of the module
@external("qjs", "qjs_get_string_len") export declare function q_text(value: usize, bytes: usize): usize;
// @ts-ignore: an import of the module
@external("qjs", "qjs_get_float64") export declare function q_number(value: usize): f64;
// @ts-ignore: an import of the module
@external("qjs", "qjs_free_cstring") export declare function q_freeText(text: usize): void;
// @ts-ignore: an import of the module
@external("qjs", "qjs_free_value") export declare function q_freeValue(value: usize): void;
// @ts-ignore: an import of the module
@external("qjs", "qjs_new_string") export declare function q_newString(text: usize, bytes: usize): usize;
// @ts-ignore: an import of the module
@external("qjs", "qjs_get_array_buffer") export declare function q_bufferAt(buffer: usize, bytes: usize): usize;
// @ts-ignore: an import of the module
@external("qjs", "qjs_new_array_buffer") export declare function q_newBuffer(at: usize, bytes: usize): usize;
// @ts-ignore: an import of the module
@external("qjs", "qjs_new_number") export declare function q_newNumber(value: f64): usize;
// @ts-ignore: an import of the module
@external("qjs", "qjs_new_host_function") export declare function q_newFunction(name: usize, bytes: usize, argc: i32): usize;
// @ts-ignore: an import of the module
@external("qjs", "qjs_execute_pending_job") export declare function q_runJob(): i32;
