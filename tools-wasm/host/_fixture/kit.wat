(import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
(import "extism:host/env" "free" (func $free (param i64)))
(import "extism:host/env" "length" (func $length (param i64) (result i64)))
(import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
(import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))
(import "extism:host/env" "store_u8" (func $store_u8 (param i64) (param i32)))
(import "extism:host/env" "store_u64" (func $store_u64 (param i64) (param i64)))
(import "extism:host/env" "input_length" (func $input_length (result i64)))
(import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
(import "extism:host/env" "output_set" (func $output_set (param i64) (param i64)))
(import "extism:host/env" "error_set" (func $error_set (param i64)))
(import "extism:host/env" "log_info" (func $log_info (param i64)))
(import "extism:host/user" "host_call" (func $host_call (param i64) (result i64)))
(memory (export "memory") 1 16)

;; The bytes at $at as a block of the host.
(func $block (param $at i32) (param $bytes i32) (result i64)
  (local $block i64) (local $i i32)
  (local.set $block (call $alloc (i64.extend_i32_u (local.get $bytes))))
  (block $done
    (loop $more
      (br_if $done (i32.ge_u (local.get $i) (local.get $bytes)))
      (call $store_u8
        (i64.add (local.get $block) (i64.extend_i32_u (local.get $i)))
        (i32.load8_u (i32.add (local.get $at) (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $more)))
  (local.get $block))

;; The input as a block.
(func $input (result i64)
  (local $block i64) (local $i i64)
  (local.set $block (call $alloc (call $input_length)))
  (block $done
    (loop $more
      (br_if $done (i64.ge_u (local.get $i) (call $input_length)))
      (call $store_u8
        (i64.add (local.get $block) (local.get $i))
        (call $input_load_u8 (local.get $i)))
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br $more)))
  (local.get $block))

(func $give (param $block i64)
  (call $output_set (local.get $block) (call $length (local.get $block))))

(func $say (param $at i32) (param $bytes i32)
  (call $give (call $block (local.get $at) (local.get $bytes))))

(func $ask (param $at i32) (param $bytes i32) (result i64)
  (call $host_call (call $block (local.get $at) (local.get $bytes))))
