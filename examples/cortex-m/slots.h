/* A model in one of two flash slots, by turns. The slot with the older model is erased and written,
 * its header last; so whenever the power goes, the other slot, or this one, holds a whole model. */
#ifndef SLOTS_H
#define SLOTS_H

#include <stddef.h>
#include <stdint.h>

/* The newest model that is there: its bytes, in flash, and *size. NULL: none. Whether the bytes are
 * sound is for the library to say, by their checksum: if it refuses them, ask again with before =
 * *sequence. before 0: any. */
const uint8_t* slots_newest(uint32_t before, uint32_t* sequence, size_t* size);
/* What a slot has room for. */
size_t slots_room(void);
/* 0: it does not fit. bytes [size]; the sequence is one more than that of the newest. */
int slots_save(const uint8_t* bytes, size_t size);

#endif
