/** IDX files, as MNIST's. */
import { arrayTable, ReadError, sizeOf, type Table } from './table';

type Take = (view: DataView, at: number) => number;
const KINDS: Record<number, [name: string, bytes: number, take: Take]> = {
  0x08: ['bytes', 1, (view, at) => view.getUint8(at)],
  0x09: ['signed bytes', 1, (view, at) => view.getInt8(at)],
  0x0b: ['shorts', 2, (view, at) => view.getInt16(at)],
  0x0c: ['integers', 4, (view, at) => view.getInt32(at)],
  0x0d: ['floats', 4, (view, at) => view.getFloat32(at)],
  0x0e: ['doubles', 8, (view, at) => view.getFloat64(at)],
};

export const isIdx = (bytes: Uint8Array): boolean => bytes.length >= 4 && bytes[0] === 0 && bytes[1] === 0;

export function readIdx(bytes: Uint8Array): Table {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kind = KINDS[bytes[2]!];
  if (!kind) throw new ReadError(`byte 2: 0x${bytes[2]!.toString(16).padStart(2, '0')} is no type of IDX numbers`);
  const axes = bytes[3]!;
  if (axes < 1 || axes > 8) throw new ReadError(`byte 3: ${axes} axes; 1 to 8 are read`);
  const data = 4 + 4 * axes;
  if (bytes.length < data) throw new ReadError(`byte ${bytes.length}: the file ends within the lengths of its ${axes} axes`);
  const shape = Array.from({ length: axes }, (_, axis) => view.getUint32(4 + 4 * axis));
  const size = sizeOf(shape, 'byte 4');
  const [name, wide, take] = kind;
  if (bytes.length - data !== size * wide) {
    throw new ReadError(`byte ${data}: the shape ${shape.join(' × ')} needs ${size * wide} bytes, the file has ${bytes.length - data}`);
  }
  const values = new Float32Array(size);
  for (let i = 0; i < size; ++i) values[i] = take(view, data + i * wide);
  return arrayTable(shape, values, wide === 1 && bytes[2] === 0x08, `IDX of ${name}`);
}
