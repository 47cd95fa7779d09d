/* What the firmware needs of a board: a few lines of text out, and flash for two slots.
 * board_qemu.c is Arm's MPS2 and MPS3 boards as QEMU has them, board_pc.c a PC with a file for
 * flash; for a real board write a third. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

enum { kSlots = 2, kSlotBytes = 32768, kPageBytes = 256 };

void board_print(const char* text);

/* Where a slot can be read. */
const uint8_t* flash_at(int slot);
/* The slot becomes 0xFF. */
void flash_erase(int slot);
/* For tests: at the operation of this number from now on, erasing or programming, the power goes
 * when half of it is done. 0: never. */
void flash_cut_at(long operation);
/* One page of an erased slot. */
void flash_program(int slot, uint32_t offset, const uint8_t page[kPageBytes]);

/* 64 bytes that a reboot leaves as they are. */
void* board_kept(void);

/* firmware.c: 0 all is done, kReboot: start again, anything else: it failed. */
enum { kReboot = 100 };
int firmware_run(void);

#endif
