;; Calls itself without end.
(module
  (kit)
  (func $deeper (param $n i64) (result i64)
    (i64.add (call $deeper (i64.add (local.get $n) (i64.const 1))) (local.get $n)))
  (func (export "run") (result i32)
    (drop (call $deeper (i64.const 0)))
    (i32.const 0)))
