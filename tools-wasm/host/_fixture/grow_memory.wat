;; Takes memory until it is given no more, and tells how many pages it has then.
(module
  (kit)
  (func (export "run") (result i32)
    (local $block i64)
    (block $full
      (loop $more
        (br_if $full (i32.eq (memory.grow (i32.const 1)) (i32.const -1)))
        (br $more)))
    ;; As many letters as pages, at the end of the memory.
    (memory.fill (i32.const 2048) (i32.const 97) (memory.size))
    (call $output_set
      (call $block (i32.const 2048) (memory.size))
      (i64.extend_i32_u (memory.size)))
    (i32.const 0)))
