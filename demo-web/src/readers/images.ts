/** Pictures as rows: grey, of the size of the digits, light on dark as they are. */
import { MOST_NUMBERS, numberedColumns, ReadError, tableOf, type Table } from './table';

const SIDE = 28;
const PIXELS = SIDE * SIDE;

const SIGNATURES = [[0x89, 0x50, 0x4e, 0x47], [0xff, 0xd8, 0xff], [0x47, 0x49, 0x46, 0x38], [0x42, 0x4d], [0x52, 0x49, 0x46, 0x46]];
/** PNG, JPEG, GIF, BMP, WebP. */
export const isImage = (bytes: Uint8Array): boolean => SIGNATURES.some((signature) => signature.every((byte, i) => bytes[i] === byte));

const MOST_PIXELS = 1 << 26; // a picture of a few bytes may be one of billions of pixels
/** Width and height that a picture claims; null: they are not found. */
export function sideOf(bytes: Uint8Array): [number, number] | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const word = (at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));
  const three = (at: number): number => 1 + (view.getUint32(at, true) & 0xffffff);
  try {
    switch (bytes[0]) {
      case 0x89:
        return [view.getUint32(16), view.getUint32(20)];
      case 0x47:
        return [view.getUint16(6, true), view.getUint16(8, true)];
      case 0x42:
        return [Math.abs(view.getInt32(18, true)), Math.abs(view.getInt32(22, true))];
      case 0x52:
        if (word(12) === 'VP8X') return [three(24), three(27)];
        if (word(12) === 'VP8L') return [1 + (view.getUint16(21, true) & 0x3fff), 1 + ((view.getUint32(21, true) >>> 14) & 0x3fff)];
        return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
    }
    // JPEG: segment after segment, until one that begins a frame.
    for (let at = 2; bytes[at] === 0xff; ) {
      const kind = bytes[at + 1]!;
      if (kind === 0xff) ++at;
      else if (kind >= 0xc0 && kind <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(kind)) return [view.getUint16(at + 7), view.getUint16(at + 5)];
      else at += 2 + view.getUint16(at + 2);
    }
  } catch {
    // it ends before
  }
  return null;
}

async function grey(file: File, context: OffscreenCanvasRenderingContext2D, row: Float32Array): Promise<void> {
  const side = sideOf(new Uint8Array(await file.arrayBuffer()));
  const broken = (): ReadError => new ReadError(`${file.name}: a picture that this browser cannot read`);
  if (!side) throw broken();
  if (side[0] * side[1] > MOST_PIXELS) throw new ReadError(`${file.name}: a picture of ${side.join(' × ')} pixels is too large for this page; ${MOST_PIXELS} pixels are the most`);
  const picture = await createImageBitmap(file).catch(() => {
    throw broken();
  });
  const scale = SIDE / Math.max(picture.width, picture.height);
  const [wide, high] = [picture.width * scale, picture.height * scale];
  const small = await createImageBitmap(picture, { resizeWidth: Math.max(1, Math.round(wide)), resizeHeight: Math.max(1, Math.round(high)), resizeQuality: 'high' });
  picture.close();
  context.fillStyle = '#fff'; // under what is transparent
  context.fillRect(0, 0, SIDE, SIDE);
  const [left, top] = [Math.floor((SIDE - small.width) / 2), Math.floor((SIDE - small.height) / 2)];
  context.drawImage(small, left, top);
  const { data } = context.getImageData(left, top, small.width, small.height);
  // What the picture does not cover goes on like its edge.
  let edge = 0;
  let edges = 0;
  const pixels = new Float32Array(small.width * small.height);
  for (let i = 0; i < pixels.length; ++i) {
    pixels[i] = (0.299 * data[4 * i]! + 0.587 * data[4 * i + 1]! + 0.114 * data[4 * i + 2]!) / 255;
    const [x, y] = [i % small.width, Math.floor(i / small.width)];
    if (x > 0 && y > 0 && x < small.width - 1 && y < small.height - 1) continue;
    edge += pixels[i]!;
    ++edges;
  }
  row.fill(edge / edges);
  pixels.forEach((value, i) => (row[(top + Math.floor(i / small.width)) * SIDE + left + (i % small.width)] = value));
  small.close();
}

/** Whether most of the edge is light. */
function lightGround(rows: Float32Array): boolean {
  let sum = 0;
  let count = 0;
  for (let i = 0; i < rows.length; ++i) {
    const [x, y] = [i % SIDE, Math.floor((i % PIXELS) / SIDE)];
    if (x > 0 && y > 0 && x < SIDE - 1 && y < SIDE - 1) continue;
    sum += rows[i]!;
    ++count;
  }
  return sum > count / 2;
}

export async function readImages(files: File[]): Promise<Table> {
  if (files.length * PIXELS > MOST_NUMBERS) throw new ReadError(`${files.length} pictures are too many for this page; ${Math.floor(MOST_NUMBERS / PIXELS)} are the most`);
  const context = new OffscreenCanvas(SIDE, SIDE).getContext('2d', { willReadFrequently: true })!;
  const rows = new Float32Array(files.length * PIXELS);
  for (const [i, file] of files.entries()) await grey(file, context, rows.subarray(i * PIXELS, (i + 1) * PIXELS));
  const light = lightGround(rows);
  if (light) rows.forEach((value, i) => (rows[i] = 1 - value));
  return tableOf(numberedColumns(PIXELS), rows, { width: SIDE, height: SIDE }, `Pictures made grey, ${SIDE} × ${SIDE}${light ? ', and light on dark, as the digits are' : ''}.`);
}
