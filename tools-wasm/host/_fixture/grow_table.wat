;; Grows a table that has no maximum until it is given no more.
(module
  (kit)
  (table $table 1 funcref)
  (func (export "run") (result i32)
    (block $full
      (loop $more
        (br_if $full
          (i32.eq (table.grow $table (ref.null func) (i32.const 1000)) (i32.const -1)))
        (br $more)))
    ;; A letter for each thousand elements.
    (memory.fill (i32.const 2048) (i32.const 97) (i32.const 60000))
    (call $output_set
      (call $block (i32.const 2048) (i32.div_u (table.size $table) (i32.const 1000)))
      (i64.extend_i32_u (i32.div_u (table.size $table) (i32.const 1000))))
    (i32.const 0)))
