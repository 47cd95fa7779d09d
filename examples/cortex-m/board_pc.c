/* The firmware on a PC: try it first. Flash is a file.
 *
 *   firmware_pc FLASH_FILE [CUT]
 *
 * CUT: at the flash operation of that number, from 1, the power goes: half of it is done, and the
 * program ends with code 3. Run it again and it goes on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"

static uint8_t flash[kSlots + 1][kSlotBytes]; /* and what is kept */
static const char* path;
static long operations;
static long cut;

static void write_file(void) {
  FILE* file = fopen(path, "wb");
  if (file == NULL || fwrite(flash, 1, sizeof flash, file) != sizeof flash || fclose(file) != 0) {
    fprintf(stderr, "%s: cannot be written\n", path);
    exit(2);
  }
}

void flash_cut_at(long operation) { cut = operation == 0 ? 0 : operations + operation; }

void* board_kept(void) { return flash[kSlots]; }

/* What is done of an operation of so many bytes. */
static uint32_t done_of(uint32_t bytes) { return ++operations == cut ? bytes / 2 : bytes; }

static void end_operation(void) {
  write_file();
  if (operations == cut) exit(3);
}

void board_print(const char* text) { fputs(text, stdout); }

const uint8_t* flash_at(int slot) { return flash[slot]; }

void flash_erase(int slot) {
  memset(flash[slot], 0xFF, done_of(kSlotBytes));
  end_operation();
}

void flash_program(int slot, uint32_t offset, const uint8_t page[kPageBytes]) {
  uint32_t count = done_of(kPageBytes);
  for (uint32_t i = 0; i < count; ++i)
    flash[slot][offset + i] &= page[i]; /* bits go from 1 to 0 only */
  end_operation();
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s FLASH_FILE [CUT]\n", argv[0]);
    return 2;
  }
  path = argv[1];
  cut = argc > 2 ? atol(argv[2]) : 0;
  FILE* file = fopen(path, "rb");
  memset(flash, 0xFF, kSlots * sizeof flash[0]);
  if (file != NULL) {
    size_t size = fread(flash, 1, sizeof flash, file);
    (void)size; /* a shorter one is as good as erased flash */
    fclose(file);
  }
  int code;
  while ((code = firmware_run()) == kReboot) {
  }
  printf("%ld flash operations\n", operations);
  return code;
}
