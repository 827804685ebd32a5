;; A pretended engine for scripts: tells how often it was called, and what with.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64) (param i32)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64) (param i64)))
  (memory (export "memory") 1 64)
  ;; Two digits and the input come into it.
  (data (i32.const 0) "{\22ok\22:true,\22value\22:[_,_,")
  (global $calls (mut i32) (i32.const 0))
  ;; The output is a block of 24 bytes, the input, and `]}`.
  (func (export "run") (result i32)
    (local $block i64) (local $i i32) (local $length i32)
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (if (i32.eq (global.get $calls) (i32.const 1))
      (then (drop (memory.grow (i32.const 8)))))
    (i32.store8 (i32.const 20) (i32.add (i32.const 48) (global.get $calls)))
    (i32.store8 (i32.const 22) (i32.add (i32.const 48) (memory.size)))
    (local.set $length (i32.wrap_i64 (call $input_length)))
    (local.set $block (call $alloc (i64.extend_i32_u (i32.add (local.get $length) (i32.const 26)))))
    (loop $head
      (call $store_u8
        (i64.add (local.get $block) (i64.extend_i32_u (local.get $i)))
        (i32.load8_u (local.get $i)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $head (i32.lt_u (local.get $i) (i32.const 24))))
    (local.set $i (i32.const 0))
    (loop $body
      (call $store_u8
        (i64.add (local.get $block) (i64.extend_i32_u (i32.add (local.get $i) (i32.const 24))))
        (call $input_load_u8 (i64.extend_i32_u (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $body (i32.lt_u (local.get $i) (local.get $length))))
    (call $store_u8
      (i64.add (local.get $block) (i64.extend_i32_u (i32.add (local.get $i) (i32.const 24))))
      (i32.const 93))
    (call $store_u8
      (i64.add (local.get $block) (i64.extend_i32_u (i32.add (local.get $i) (i32.const 25))))
      (i32.const 125))
    (call $output_set
      (local.get $block)
      (i64.extend_i32_u (i32.add (local.get $length) (i32.const 26))))
    (i32.const 0)))
