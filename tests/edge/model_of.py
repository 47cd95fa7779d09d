#!/usr/bin/env python3
"""The newest model of a flash file of examples/cortex-m: model_of.py FLASH_FILE OUTPUT"""
import struct
import sys

SLOT, PAGE = 32768, 256
flash = open(sys.argv[1], "rb").read()
newest = max((struct.unpack_from("<4I", flash, slot * SLOT)[1:3] + (slot,) for slot in range(2)))
_, size, slot = newest
with open(sys.argv[2], "wb") as out:
    out.write(flash[slot * SLOT + PAGE:slot * SLOT + PAGE + size])
