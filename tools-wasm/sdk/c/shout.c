/*
 * A plugin in C, as any Extism kit makes one: text in, text out, one export a tool. It uses the C library, which
 * uses WASI; "remit tool add" writes stubs for that which grant nothing. With Debian's packages clang, lld, wasi-libc
 * and libclang-rt-dev-wasm32:
 *
 *   clang --target=wasm32-wasi -O2 -mexec-model=reactor -o shout.wasm shout.c
 *   remit tool add shout.wasm --description 'Makes text loud.'
 *   remit tool call shout '{"input":"hello"}'
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXTISM(name) __attribute__((import_module("extism:host/env"), import_name(name)))
EXTISM("input_length") extern uint64_t input_length(void);
EXTISM("input_load_u8") extern uint8_t input_load_u8(uint64_t at);
EXTISM("alloc") extern uint64_t extism_alloc(uint64_t bytes);
EXTISM("store_u8") extern void extism_store_u8(uint64_t at, uint8_t byte);
EXTISM("output_set") extern void output_set(uint64_t at, uint64_t bytes);

__attribute__((export_name("shout"))) int32_t shout(void) {
  uint64_t length = input_length();
  char *text = malloc(length + 1);
  if (text == NULL) return 1;
  for (uint64_t at = 0; at < length; at++) {
    uint8_t letter = input_load_u8(at);
    text[at] = letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter;
  }
  text[length] = '!';
  /* What the machine would give a program, and this one must not get. */
  printf("shouting %u letters\n", (unsigned)length);
  FILE *file = fopen("/etc/passwd", "r");
  if (file != NULL || getenv("PATH") != NULL) text[length] = '?';
  uint64_t out = extism_alloc(length + 1);
  for (uint64_t at = 0; at <= length; at++) extism_store_u8(out + at, text[at]);
  output_set(out, length + 1);
  free(text);
  return 0;
}
