;; Logs without end: lines, one long line, empty lines.
(module
  (kit)
  (func (export "run") (result i32)
    (loop $more
      (call $log_info (call $block (text line after line)))
      (br $more))
    (i32.const 0))
  (func (export "long") (result i32)
    (call $log_info (call $alloc (i64.const 0x4000000)))
    (call $say (text said))
    (i32.const 0))
  (func (export "some") (result i32)
    (local $left i32)
    (local.set $left (i32.const 9000))
    (loop $more
      (call $log_info (call $block (text line after line)))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $more (local.get $left)))
    (call $say (text said))
    (i32.const 0)))
