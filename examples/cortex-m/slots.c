#include "slots.h"

#include <string.h>

#include "board.h"

/* The first page of a slot; the model follows. */
typedef struct Header {
  uint32_t magic;
  uint32_t sequence; /* from 1; the newest is the highest */
  uint32_t size;
  uint32_t check; /* of the three above: a page that was cut short does not have it */
} Header;

enum { kMagic = 0x41445056 };

static uint32_t check_of(const Header* header) {
  return (header->magic * 31u + header->sequence) * 0x9E3779B1u ^ header->size;
}

static int read_header(int slot, Header* header) {
  memcpy(header, flash_at(slot), sizeof *header);
  return header->magic == kMagic && header->check == check_of(header) && header->sequence > 0 &&
         header->size <= slots_room();
}

static int newest_slot(uint32_t before, Header* newest) {
  int found = -1;
  for (int slot = 0; slot < kSlots; ++slot) {
    Header header;
    if (!read_header(slot, &header) || (before != 0 && header.sequence >= before)) continue;
    if (found >= 0 && header.sequence <= newest->sequence) continue;
    found = slot;
    *newest = header;
  }
  return found;
}

size_t slots_room(void) { return kSlotBytes - kPageBytes; }

const uint8_t* slots_newest(uint32_t before, uint32_t* sequence, size_t* size) {
  Header header;
  int slot = newest_slot(before, &header);
  if (slot < 0) return NULL;
  *sequence = header.sequence;
  *size = header.size;
  return flash_at(slot) + kPageBytes;
}

int slots_save(const uint8_t* bytes, size_t size) {
  if (size > slots_room()) return 0;
  uint8_t page[kPageBytes];
  Header header = {kMagic, 0, 0, 0};
  int newest = newest_slot(0, &header);
  int slot = newest < 0 ? 0 : 1 - newest;
  header.magic = kMagic;
  header.sequence = newest < 0 ? 1 : header.sequence + 1;
  header.size = (uint32_t)size;
  header.check = check_of(&header);
  flash_erase(slot);
  for (size_t at = 0; at < size; at += kPageBytes) {
    size_t count = size - at < kPageBytes ? size - at : kPageBytes;
    memset(page, 0xFF, sizeof page);
    memcpy(page, bytes + at, count);
    flash_program(slot, (uint32_t)(kPageBytes + at), page);
  }
  memset(page, 0xFF, sizeof page);
  memcpy(page, &header, sizeof header);
  flash_program(slot, 0, page);
  return 1;
}
