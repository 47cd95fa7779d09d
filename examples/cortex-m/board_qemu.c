/* Arm's MPS2 (AN386: Cortex-M4, AN500: Cortex-M7) and MPS3 (AN547: Cortex-M55) boards as QEMU has
 * them: start-up, text by semihosting, and memory that keeps what it holds over a reset, for flash.
 */
#include <string.h>

#include "board.h"

extern uint32_t stack_top, data_load, data_begin, data_end, bss_begin, bss_end;
extern int main(void);

/* ---- start-up ----------------------------------------------------------------------------------
 */

void reset_handler(void) {
  *(volatile uint32_t*)0xE000ED88 |= 0xFu << 20; /* CPACR: the FPU is on */
  __asm volatile("dsb\nisb");
  memcpy(&data_begin, &data_load, (size_t)((char*)&data_end - (char*)&data_begin));
  memset(&bss_begin, 0, (size_t)((char*)&bss_end - (char*)&bss_begin));
  main();
}

/* ---- semihosting -------------------------------------------------------------------------------
 */

static int semihost(int operation, const void* argument) {
  register int r0 __asm("r0") = operation;
  register const void* r1 __asm("r1") = argument;
  __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

void board_print(const char* text) { semihost(0x04, text); /* SYS_WRITE0 */ }

static void end(int code) {
  uint32_t block[2] = {0x20026, (uint32_t)code}; /* the application has ended */
  semihost(0x20, block);                         /* SYS_EXIT_EXTENDED */
  for (;;) {
  }
}

static void reset(void) {
  *(volatile uint32_t*)0xE000ED0C = 0x05FA0004; /* AIRCR: the system is reset */
  for (;;) {
  }
}

void fault_handler(void) {
  board_print("a fault\n");
  end(99);
}

__attribute__((section(".vectors"), used)) static void* const vectors[16] = {
    &stack_top,           (void*)reset_handler, (void*)fault_handler, (void*)fault_handler,
    (void*)fault_handler, (void*)fault_handler, (void*)fault_handler,
};

/* ---- flash -------------------------------------------------------------------------------------
 */

__attribute__((section(".flash"))) static uint8_t flash[kSlots][kSlotBytes];
__attribute__((section(".flash"))) static uint8_t kept[64];
static long operations;
static long cut;

void* board_kept(void) { return kept; }
const uint8_t* flash_at(int slot) { return flash[slot]; }
void flash_cut_at(long operation) { cut = operation == 0 ? 0 : operations + operation; }

static uint32_t done_of(uint32_t bytes) { return ++operations == cut ? bytes / 2 : bytes; }
static void end_operation(void) {
  if (operations == cut) reset();
}

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

int main(void) {
  int code = firmware_run();
  if (code == kReboot) reset();
  end(code);
  return code;
}
