;; Asks the host a million times and never frees an answer.
(module
  (kit)
  (func (export "run") (result i32)
    (local $left i32)
    (local.set $left (i32.const 1000000))
    (loop $more
      (drop (call $ask (text {"fn":"clock"})))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $more (local.get $left)))
    (call $say (text {"ok":true,"value":"asked"}))
    (i32.const 0))
  ;; Only a few more than it may, and gives the last answer.
  (func (export "some") (result i32)
    (local $left i32) (local $answer i64)
    (local.set $left (i32.const 10001))
    (loop $more
      (call $free (local.get $answer))
      (local.set $answer (call $ask (text {"fn":"clock"})))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $more (local.get $left)))
    (call $give (local.get $answer))
    (i32.const 0))
  ;; The same, of the kernel.
  (func (export "kernel") (result i32)
    (local $left i32) (local $answer i64)
    (local.set $left (i32.const 10001))
    (loop $more
      (call $free (local.get $answer))
      (local.set $answer (call $ask (text {"fn":"fs.read","args":{"path":"desk/a"}})))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $more (local.get $left)))
    (call $give (local.get $answer))
    (i32.const 0)))
