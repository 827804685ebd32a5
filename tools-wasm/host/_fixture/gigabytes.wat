;; Gives back far more than anybody asked for.
(module
  (kit)
  ;; One block of a gigabyte.
  (func (export "at_once") (result i32)
    (call $give (call $alloc (i64.const 0x40000000)))
    (i32.const 0))
  ;; Blocks of 8 MiB without end.
  (func (export "piece_by_piece") (result i32)
    (loop $more
      (drop (call $alloc (i64.const 0x800000)))
      (br $more))
    (i32.const 0))
  ;; Blocks of 8 MiB, each freed: only ever one at a time.
  (func (export "freed") (result i32)
    (local $left i32)
    (local.set $left (i32.const 100))
    (loop $more
      (call $free (call $alloc (i64.const 0x800000)))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $more (local.get $left)))
    (call $say (text freed))
    (i32.const 0))
  ;; One block that fits into memory, and into no answer.
  (func (export "run") (result i32)
    (call $give (call $alloc (i64.const 0x4000000)))
    (i32.const 0)))
