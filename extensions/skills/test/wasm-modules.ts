/** Modules of WebAssembly, assembled by wabt from the text beside each. */
export const MODULES: Readonly<
  Record<
    'echo' | 'logs' | 'reads' | 'reaches' | 'grows' | 'fills' | 'deep' | 'starts' | 'wasi' | 'foreign' | 'wide' | 'lies' | 'sums' | 'sieve' | 'fib' | 'tight',
    { readonly wat: string; readonly base64: string }
  >
> = {
  echo: {
    wat: '(module (memory (export "memory") 1) (global $top (mut i32) (i32.const 1024)) (func (export "alloc") (param $n i32) (result i32) (local $at i32) (local.set $at (global.get $top)) (global.set $top (i32.add (global.get $top) (local.get $n))) (local.get $at)) (func $pack (param $p i32) (param $n i32) (result i64) (i64.or (i64.shl (i64.extend_i32_u (local.get $p)) (i64.const 32)) (i64.extend_i32_u (local.get $n)))) (func (export "execute") (param $p i32) (param $n i32) (result i64) (call $pack (local.get $p) (local.get $n))))',
    base64: 'AGFzbQEAAAABDAJgAX8Bf2ACf38BfgMEAwABAQUDAQABBgcBfwFBgAgLBxwDBm1lbW9yeQIABWFsbG9jAAAHZXhlY3V0ZQACCikDEQEBfyMAIQEjACAAaiQAIAELDAAgAK1CIIYgAa2ECwgAIAAgARABCw==',
  },
  logs: {
    wat: '(module (import "svc" "host_log" (func $log (param i32 i32 i32))) (memory (export "memory") 1) (global $top (mut i32) (i32.const 1024)) (func (export "alloc") (param $n i32) (result i32) (local $at i32) (local.set $at (global.get $top)) (global.set $top (i32.add (global.get $top) (local.get $n))) (local.get $at)) (func $pack (param $p i32) (param $n i32) (result i64) (i64.or (i64.shl (i64.extend_i32_u (local.get $p)) (i64.const 32)) (i64.extend_i32_u (local.get $n)))) (data (i32.const 0) "ahoy") (func (export "execute") (param $p i32) (param $n i32) (result i64) (call $log (i32.const 2) (i32.const 0) (i32.const 4)) (call $pack (local.get $p) (local.get $n))))',
    base64:
      'AGFzbQEAAAABEgNgA39/fwBgAX8Bf2ACf38BfgIQAQNzdmMIaG9zdF9sb2cAAAMEAwECAgUDAQABBgcBfwFBgAgLBxwDBm1lbW9yeQIABWFsbG9jAAEHZXhlY3V0ZQADCjEDEQEBfyMAIQEjACAAaiQAIAELDAAgAK1CIIYgAa2ECxAAQQJBAEEEEAAgACABEAILCwoBAEEACwRhaG95',
  },
  reads: {
    wat: '(module (import "librefang" "host_call" (func $host (param i32 i32) (result i64))) (memory (export "memory") 1) (global $top (mut i32) (i32.const 1024)) (func (export "alloc") (param $n i32) (result i32) (local $at i32) (local.set $at (global.get $top)) (global.set $top (i32.add (global.get $top) (local.get $n))) (local.get $at)) (func $pack (param $p i32) (param $n i32) (result i64) (i64.or (i64.shl (i64.extend_i32_u (local.get $p)) (i64.const 32)) (i64.extend_i32_u (local.get $n)))) (data (i32.const 0) "{\\"method\\":\\"read_file\\",\\"params\\":{\\"path\\":\\"words.txt\\"}}") (func (export "execute") (param $p i32) (param $n i32) (result i64) (call $host (i32.const 0) (i32.const 52))))',
    base64:
      'AGFzbQEAAAABDAJgAn9/AX5gAX8BfwIXAQlsaWJyZWZhbmcJaG9zdF9jYWxsAAADBAMBAAAFAwEAAQYHAX8BQYAICwccAwZtZW1vcnkCAAVhbGxvYwABB2V4ZWN1dGUAAwopAxEBAX8jACEBIwAgAGokACABCwwAIACtQiCGIAGthAsIAEEAQTQQAAsLOgEAQQALNHsibWV0aG9kIjoicmVhZF9maWxlIiwicGFyYW1zIjp7InBhdGgiOiJ3b3Jkcy50eHQifX0=',
  },
  reaches: {
    wat: '(module (import "svc" "host_call" (func $host (param i32 i32) (result i64))) (memory (export "memory") 1) (global $top (mut i32) (i32.const 1024)) (func (export "alloc") (param $n i32) (result i32) (local $at i32) (local.set $at (global.get $top)) (global.set $top (i32.add (global.get $top) (local.get $n))) (local.get $at)) (func $pack (param $p i32) (param $n i32) (result i64) (i64.or (i64.shl (i64.extend_i32_u (local.get $p)) (i64.const 32)) (i64.extend_i32_u (local.get $n)))) (data (i32.const 0) "{\\"method\\":\\"shell_exec\\",\\"params\\":{}}") (func (export "execute") (param $p i32) (param $n i32) (result i64) (call $host (i32.const 0) (i32.const 35))))',
    base64:
      'AGFzbQEAAAABDAJgAn9/AX5gAX8BfwIRAQNzdmMJaG9zdF9jYWxsAAADBAMBAAAFAwEAAQYHAX8BQYAICwccAwZtZW1vcnkCAAVhbGxvYwABB2V4ZWN1dGUAAwopAxEBAX8jACEBIwAgAGokACABCwwAIACtQiCGIAGthAsIAEEAQSMQAAsLKQEAQQALI3sibWV0aG9kIjoic2hlbGxfZXhlYyIsInBhcmFtcyI6e319',
  },
  grows: {
    wat: '(module (memory (export "memory") 1) (global $top (mut i32) (i32.const 1024)) (func (export "alloc") (param $n i32) (result i32) (local $at i32) (local.set $at (global.get $top)) (global.set $top (i32.add (global.get $top) (local.get $n))) (local.get $at)) (func $pack (param $p i32) (param $n i32) (result i64) (i64.or (i64.shl (i64.extend_i32_u (local.get $p)) (i64.const 32)) (i64.extend_i32_u (local.get $n)))) (data (i32.const 0) "no") (func (export "execute") (param $p i32) (param $n i32) (result i64) (block $out (loop $more (br_if $out (i32.eq (memory.grow (i32.const 16)) (i32.const -1))) (br $more))) (call $pack (i32.const 0) (i32.const 2))))',
    base64:
      'AGFzbQEAAAABDAJgAX8Bf2ACf38BfgMEAwABAQUDAQABBgcBfwFBgAgLBxwDBm1lbW9yeQIABWFsbG9jAAAHZXhlY3V0ZQACCjoDEQEBfyMAIQEjACAAaiQAIAELDAAgAK1CIIYgAa2ECxkAAkADQEEQQABBf0YNAQwACwtBAEECEAELCwgBAEEACwJubw==',
  },
  fills: {
    wat: '(module (memory (export "memory") 1) (global $top (mut i32) (i32.const 1024)) (func (export "alloc") (param $n i32) (result i32) (local $at i32) (local.set $at (global.get $top)) (global.set $top (i32.add (global.get $top) (local.get $n))) (local.get $at)) (func $pack (param $p i32) (param $n i32) (result i64) (i64.or (i64.shl (i64.extend_i32_u (local.get $p)) (i64.const 32)) (i64.extend_i32_u (local.get $n)))) (func (export "execute") (param $p i32) (param $n i32) (result i64) (loop $more (memory.fill (i32.const 2048) (i32.const 7) (i32.const 60000)) (br $more)) (call $pack (local.get $p) (local.get $n))))',
    base64: 'AGFzbQEAAAABDAJgAX8Bf2ACf38BfgMEAwABAQUDAQABBgcBfwFBgAgLBxwDBm1lbW9yeQIABWFsbG9jAAAHZXhlY3V0ZQACCjoDEQEBfyMAIQEjACAAaiQAIAELDAAgAK1CIIYgAa2ECxkAA0BBgBBBB0Hg1AP8CwAMAAsgACABEAEL',
  },
  deep: {
    wat: '(module (memory (export "memory") 1) (global $top (mut i32) (i32.const 1024)) (func (export "alloc") (param $n i32) (result i32) (local $at i32) (local.set $at (global.get $top)) (global.set $top (i32.add (global.get $top) (local.get $n))) (local.get $at)) (func $pack (param $p i32) (param $n i32) (result i64) (i64.or (i64.shl (i64.extend_i32_u (local.get $p)) (i64.const 32)) (i64.extend_i32_u (local.get $n)))) (func $down (result i32) (i32.add (i32.const 1) (call $down))) (func (export "execute") (param $p i32) (param $n i32) (result i64) (drop (call $down)) (call $pack (local.get $p) (local.get $n))))',
    base64: 'AGFzbQEAAAABEANgAX8Bf2ACf38BfmAAAX8DBQQAAQIBBQMBAAEGBwF/AUGACAsHHAMGbWVtb3J5AgAFYWxsb2MAAAdleGVjdXRlAAMKNAQRAQF/IwAhASMAIABqJAAgAQsMACAArUIghiABrYQLBwBBARACagsLABACGiAAIAEQAQs=',
  },
  starts: {
    wat: '(module (memory (export "memory") 1) (global $top (mut i32) (i32.const 1024)) (func (export "alloc") (param $n i32) (result i32) (local $at i32) (local.set $at (global.get $top)) (global.set $top (i32.add (global.get $top) (local.get $n))) (local.get $at)) (func $pack (param $p i32) (param $n i32) (result i64) (i64.or (i64.shl (i64.extend_i32_u (local.get $p)) (i64.const 32)) (i64.extend_i32_u (local.get $n)))) (func $go (loop $more (br $more))) (start $go) (func (export "execute") (param $p i32) (param $n i32) (result i64) (call $pack (local.get $p) (local.get $n))))',
    base64: 'AGFzbQEAAAABDwNgAX8Bf2ACf38BfmAAAAMFBAABAgEFAwEAAQYHAX8BQYAICwccAwZtZW1vcnkCAAVhbGxvYwAAB2V4ZWN1dGUAAwgBAgoxBBEBAX8jACEBIwAgAGokACABCwwAIACtQiCGIAGthAsHAANADAALCwgAIAAgARABCw==',
  },
  wasi: {
    wat: '(module (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32))) (memory (export "memory") 1) (global $top (mut i32) (i32.const 1024)) (func (export "alloc") (param $n i32) (result i32) (local $at i32) (local.set $at (global.get $top)) (global.set $top (i32.add (global.get $top) (local.get $n))) (local.get $at)) (func $pack (param $p i32) (param $n i32) (result i64) (i64.or (i64.shl (i64.extend_i32_u (local.get $p)) (i64.const 32)) (i64.extend_i32_u (local.get $n)))) (func (export "execute") (param $p i32) (param $n i32) (result i64) (call $pack (local.get $p) (local.get $n))))',
    base64:
      'AGFzbQEAAAABFANgBH9/f38Bf2ABfwF/YAJ/fwF+AiMBFndhc2lfc25hcHNob3RfcHJldmlldzEIZmRfd3JpdGUAAAMEAwECAgUDAQABBgcBfwFBgAgLBxwDBm1lbW9yeQIABWFsbG9jAAEHZXhlY3V0ZQADCikDEQEBfyMAIQEjACAAaiQAIAELDAAgAK1CIIYgAa2ECwgAIAAgARACCw==',
  },
  foreign: {
    wat: '(module (import "env" "now" (func (result f64))) (memory (export "memory") 1) (global $top (mut i32) (i32.const 1024)) (func (export "alloc") (param $n i32) (result i32) (local $at i32) (local.set $at (global.get $top)) (global.set $top (i32.add (global.get $top) (local.get $n))) (local.get $at)) (func $pack (param $p i32) (param $n i32) (result i64) (i64.or (i64.shl (i64.extend_i32_u (local.get $p)) (i64.const 32)) (i64.extend_i32_u (local.get $n)))) (func (export "execute") (param $p i32) (param $n i32) (result i64) (call $pack (local.get $p) (local.get $n))))',
    base64: 'AGFzbQEAAAABEANgAAF8YAF/AX9gAn9/AX4CCwEDZW52A25vdwAAAwQDAQICBQMBAAEGBwF/AUGACAsHHAMGbWVtb3J5AgAFYWxsb2MAAQdleGVjdXRlAAMKKQMRAQF/IwAhASMAIABqJAAgAQsMACAArUIghiABrYQLCAAgACABEAIL',
  },
  wide: {
    wat: '(module (memory (export "memory") 1000) (global $top (mut i32) (i32.const 1024)) (func (export "alloc") (param $n i32) (result i32) (local $at i32) (local.set $at (global.get $top)) (global.set $top (i32.add (global.get $top) (local.get $n))) (local.get $at)) (func $pack (param $p i32) (param $n i32) (result i64) (i64.or (i64.shl (i64.extend_i32_u (local.get $p)) (i64.const 32)) (i64.extend_i32_u (local.get $n)))) (func (export "execute") (param $p i32) (param $n i32) (result i64) (call $pack (local.get $p) (local.get $n))))',
    base64: 'AGFzbQEAAAABDAJgAX8Bf2ACf38BfgMEAwABAQUEAQDoBwYHAX8BQYAICwccAwZtZW1vcnkCAAVhbGxvYwAAB2V4ZWN1dGUAAgopAxEBAX8jACEBIwAgAGokACABCwwAIACtQiCGIAGthAsIACAAIAEQAQs=',
  },
  lies: {
    wat: '(module (memory (export "memory") 1) (global $top (mut i32) (i32.const 1024)) (func (export "alloc") (param $n i32) (result i32) (local $at i32) (local.set $at (global.get $top)) (global.set $top (i32.add (global.get $top) (local.get $n))) (local.get $at)) (func $pack (param $p i32) (param $n i32) (result i64) (i64.or (i64.shl (i64.extend_i32_u (local.get $p)) (i64.const 32)) (i64.extend_i32_u (local.get $n)))) (func (export "execute") (param $p i32) (param $n i32) (result i64) (i64.const -1)))',
    base64: 'AGFzbQEAAAABDAJgAX8Bf2ACf38BfgMEAwABAQUDAQABBgcBfwFBgAgLBxwDBm1lbW9yeQIABWFsbG9jAAAHZXhlY3V0ZQACCiUDEQEBfyMAIQEjACAAaiQAIAELDAAgAK1CIIYgAa2ECwQAQn8L',
  },
  sums: {
    wat: '(module (memory (export "memory") 1) (global $top (mut i32) (i32.const 1024)) (func (export "alloc") (param $n i32) (result i32) (local $at i32) (local.set $at (global.get $top)) (global.set $top (i32.add (global.get $top) (local.get $n))) (local.get $at)) (func $pack (param $p i32) (param $n i32) (result i64) (i64.or (i64.shl (i64.extend_i32_u (local.get $p)) (i64.const 32)) (i64.extend_i32_u (local.get $n)))) (data (i32.const 0) "00000000") (table 2 funcref) (elem (i32.const 0) $even $odd) (type $step (func (param i32) (result i32))) (func $even (type $step) (i32.mul (local.get 0) (i32.const 3))) (func $odd (type $step) (if (result i32) (i32.gt_u (local.get 0) (i32.const 500)) (then (i32.const 1)) (else (i32.const 2)))) (func (export "execute") (param $p i32) (param $n i32) (result i64) (local $i i32) (local $sum i32) (local $k i32) (block $done (loop $more (br_if $done (i32.ge_u (local.get $i) (i32.const 1000))) (local.set $sum (i32.add (local.get $sum) (call_indirect (type $step) (local.get $i) (i32.and (local.get $i) (i32.const 1))))) (block $b (block $a (br_table $a $b (i32.and (local.get $i) (i32.const 3)))) (local.set $sum (i32.xor (local.get $sum) (i32.const 5)))) (local.set $i (i32.add (local.get $i) (i32.const 1))) (br $more))) (loop $digit (i32.store8 (local.get $k) (i32.add (i32.const 48) (i32.rem_u (local.get $sum) (i32.const 10)))) (local.set $sum (i32.div_u (local.get $sum) (i32.const 10))) (local.set $k (i32.add (local.get $k) (i32.const 1))) (br_if $digit (i32.lt_u (local.get $k) (i32.const 8)))) (call $pack (i32.const 0) (i32.const 8))))',
    base64:
      'AGFzbQEAAAABDAJgAX8Bf2ACf38BfgMGBQABAAABBAQBcAACBQMBAAEGBwF/AUGACAsHHAMGbWVtb3J5AgAFYWxsb2MAAAdleGVjdXRlAAQJCAEAQQALAgIDCqUBBREBAX8jACEBIwAgAGokACABCwwAIACtQiCGIAGthAsHACAAQQNsCxAAIABB9ANLBH9BAQVBAgsLawEDfwJAA0AgAkHoB08NASADIAIgAkEBcREAAGohAwJAAkAgAkEDcQ4BAAELIANBBXMhAwsgAkEBaiECDAALCwNAIARBMCADQQpwajoAACADQQpuIQMgBEEBaiEEIARBCEkNAAtBAEEIEAELCw4BAEEACwgwMDAwMDAwMA==',
  },
  sieve: {
    wat: '(module (memory (export "memory") 4) (global $top (mut i32) (i32.const 1024)) (func (export "alloc") (param $n i32) (result i32) (local $at i32) (local.set $at (global.get $top)) (global.set $top (i32.add (global.get $top) (local.get $n))) (local.get $at)) (func $pack (param $p i32) (param $n i32) (result i64) (i64.or (i64.shl (i64.extend_i32_u (local.get $p)) (i64.const 32)) (i64.extend_i32_u (local.get $n)))) (func (export "execute") (param $p i32) (param $n i32) (result i64) (local $i i32) (local $j i32) (local $r i32) (loop $round (memory.fill (i32.const 65536) (i32.const 0) (i32.const 100000)) (local.set $i (i32.const 2)) (block $end (loop $next (br_if $end (i32.ge_u (i32.mul (local.get $i) (local.get $i)) (i32.const 100000))) (if (i32.eqz (i32.load8_u (i32.add (i32.const 65536) (local.get $i)))) (then (local.set $j (i32.mul (local.get $i) (local.get $i))) (loop $mark (i32.store8 (i32.add (i32.const 65536) (local.get $j)) (i32.const 1)) (local.set $j (i32.add (local.get $j) (local.get $i))) (br_if $mark (i32.lt_u (local.get $j) (i32.const 100000)))))) (local.set $i (i32.add (local.get $i) (i32.const 1))) (br $next))) (local.set $r (i32.add (local.get $r) (i32.const 1))) (br_if $round (i32.lt_u (local.get $r) (i32.const 200)))) (call $pack (local.get $p) (local.get $n))))',
    base64:
      'AGFzbQEAAAABDAJgAX8Bf2ACf38BfgMEAwABAQUDAQAEBgcBfwFBgAgLBxwDBm1lbW9yeQIABWFsbG9jAAAHZXhlY3V0ZQACCp0BAxEBAX8jACEBIwAgAGokACABCwwAIACtQiCGIAGthAt8AQN/A0BBgIAEQQBBoI0G/AsAQQIhAgJAA0AgAiACbEGgjQZPDQFBgIAEIAJqLQAARQRAIAIgAmwhAwNAQYCABCADakEBOgAAIAMgAmohAyADQaCNBkkNAAsLIAJBAWohAgwACwsgBEEBaiEEIARByAFJDQALIAAgARABCw==',
  },
  fib: {
    wat: '(module (memory (export "memory") 1) (global $top (mut i32) (i32.const 1024)) (func (export "alloc") (param $n i32) (result i32) (local $at i32) (local.set $at (global.get $top)) (global.set $top (i32.add (global.get $top) (local.get $n))) (local.get $at)) (func $pack (param $p i32) (param $n i32) (result i64) (i64.or (i64.shl (i64.extend_i32_u (local.get $p)) (i64.const 32)) (i64.extend_i32_u (local.get $n)))) (func $fib (param i32) (result i32) (if (result i32) (i32.lt_u (local.get 0) (i32.const 2)) (then (local.get 0)) (else (i32.add (call $fib (i32.sub (local.get 0) (i32.const 1))) (call $fib (i32.sub (local.get 0) (i32.const 2))))))) (func (export "execute") (param $p i32) (param $n i32) (result i64) (drop (call $fib (i32.const 32))) (call $pack (local.get $p) (local.get $n))))',
    base64:
      'AGFzbQEAAAABDAJgAX8Bf2ACf38BfgMFBAABAAEFAwEAAQYHAX8BQYAICwccAwZtZW1vcnkCAAVhbGxvYwAAB2V4ZWN1dGUAAwpLBBEBAX8jACEBIwAgAGokACABCwwAIACtQiCGIAGthAscACAAQQJJBH8gAAUgAEEBaxACIABBAmsQAmoLCw0AQSAQAhogACABEAEL',
  },
  tight: {
    wat: '(module (memory (export "memory") 1) (global $top (mut i32) (i32.const 1024)) (func (export "alloc") (param $n i32) (result i32) (local $at i32) (local.set $at (global.get $top)) (global.set $top (i32.add (global.get $top) (local.get $n))) (local.get $at)) (func $pack (param $p i32) (param $n i32) (result i64) (i64.or (i64.shl (i64.extend_i32_u (local.get $p)) (i64.const 32)) (i64.extend_i32_u (local.get $n)))) (func (export "execute") (param $p i32) (param $n i32) (result i64) (local $i i32) (local $x i32) (loop $more (local.set $x (i32.xor (i32.mul (local.get $x) (i32.const 1664525)) (local.get $i))) (local.set $i (i32.add (local.get $i) (i32.const 1))) (br_if $more (i32.lt_u (local.get $i) (i32.const 100000000)))) (i32.store (i32.const 0) (local.get $x)) (call $pack (local.get $p) (local.get $n))))',
    base64:
      'AGFzbQEAAAABDAJgAX8Bf2ACf38BfgMEAwABAQUDAQABBgcBfwFBgAgLBxwDBm1lbW9yeQIABWFsbG9jAAAHZXhlY3V0ZQACClMDEQEBfyMAIQEjACAAaiQAIAELDAAgAK1CIIYgAa2ECzIBAn8DQCADQY3M5QBsIAJzIQMgAkEBaiECIAJBgMLXL0kNAAtBACADNgIAIAAgARABCw==',
  },
};

export const moduleNamed = (name: keyof typeof MODULES): Uint8Array => Buffer.from(MODULES[name].base64, 'base64');
