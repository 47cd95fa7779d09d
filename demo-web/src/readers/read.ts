/** Sees from the bytes what a file is, and reads it. */
import { readCsv } from './csv';
import { isIdx, readIdx } from './idx';
import { isImage, readImages } from './images';
import { isNpy, readNpy } from './npy';
import { ReadError, type Table } from './table';

export type Found = { table: Table } | { model: Uint8Array<ArrayBuffer> };

/** Bytes that a page can hold, as they are and unpacked. */
export const MOST_BYTES = 200_000_000;

const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

/** A model's file begins with the length of its header and a brace. */
const isModel = (bytes: Uint8Array): boolean => bytes.length > 9 && bytes[8] === 0x7b && bytes[7] === 0;

/** One level of compression, and no more bytes than a page can hold: reading stops there, however much is to come. */
async function unpacked(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw new ReadError(`a gzip file that is damaged or cut off, after ${size} bytes of what it holds`);
    });
    if (done) break;
    parts.push(value);
    size += value.length;
    if (size > MOST_BYTES) {
      await reader.cancel();
      throw new ReadError(`more than ${MOST_BYTES} bytes are in this gzip file, too many for this page`);
    }
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  if (isGzip(bytes)) throw new ReadError('a gzip file within a gzip file; this page unpacks one level. Unpack it once, and open what is in it');
  return bytes;
}

function textOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) throw new ReadError('a ZIP file (NPZ, a spreadsheet?); save an NPY or a CSV file');
  const zero = bytes.subarray(0, 4096).indexOf(0);
  if (zero >= 0) throw new ReadError(`byte ${zero}: neither text nor IDX, NPY, a picture or a model`);
  return new TextDecoder().decode(bytes);
}

export async function readBytes(given: Uint8Array<ArrayBuffer>): Promise<Found> {
  const bytes = isGzip(given) ? await unpacked(given) : given;
  if (bytes.length === 0) throw new ReadError(given.length === 0 ? 'the file is empty' : 'nothing is in this gzip file');
  if (isModel(bytes)) return { model: bytes };
  if (isNpy(bytes)) return { table: readNpy(bytes) };
  if (isIdx(bytes)) return { table: readIdx(bytes) };
  return { table: readCsv(textOf(bytes)) };
}

/** Pasted rows. */
export function readText(text: string): Found {
  if (text.length > MOST_BYTES) throw new ReadError(`${text.length} letters are too many for this page; ${MOST_BYTES} are the most`);
  return { table: readCsv(text) };
}

export async function readFiles(files: File[]): Promise<Found> {
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size > MOST_BYTES) throw new ReadError(`${size} bytes are too many for this page; ${MOST_BYTES} are the most`);
  const images = await Promise.all(files.map(async (file) => isImage(new Uint8Array(await file.slice(0, 8).arrayBuffer()))));
  if (images.every(Boolean)) return { table: await readImages(files) };
  const other = files[images.indexOf(false)]!;
  if (files.length > 1) throw new ReadError(`${other.name} is not a picture; several files at once must all be pictures`);
  return readBytes(new Uint8Array(await other.arrayBuffer()));
}
