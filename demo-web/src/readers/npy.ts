/** NumPy's NPY files. */
import { arrayTable, ReadError, sizeOf, type Table } from './table';

type Take = (view: DataView, at: number, little: boolean) => number;
const KINDS: Record<string, [bytes: number, take: Take]> = {
  f4: [4, (view, at, little) => view.getFloat32(at, little)],
  f8: [8, (view, at, little) => view.getFloat64(at, little)],
  u1: [1, (view, at) => view.getUint8(at)],
  u2: [2, (view, at, little) => view.getUint16(at, little)],
  u4: [4, (view, at, little) => view.getUint32(at, little)],
  u8: [8, (view, at, little) => Number(view.getBigUint64(at, little))],
  i1: [1, (view, at) => view.getInt8(at)],
  i2: [2, (view, at, little) => view.getInt16(at, little)],
  i4: [4, (view, at, little) => view.getInt32(at, little)],
  i8: [8, (view, at, little) => Number(view.getBigInt64(at, little))],
  b1: [1, (view, at) => view.getUint8(at)],
};

const [MOST_HEADER, MOST_AXES] = [1 << 16, 32]; // bytes; NumPy's own headers are much shorter

export const isNpy = (bytes: Uint8Array): boolean => bytes[0] === 0x93 && String.fromCharCode(...bytes.subarray(1, 6)) === 'NUMPY';

/** The numbers in row order, of an array whose first axis runs fastest. */
function turned(values: Float32Array<ArrayBuffer>, shape: number[]): Float32Array<ArrayBuffer> {
  const result = new Float32Array(values.length);
  const at = shape.map(() => 0);
  const strides = shape.map((_, axis) => shape.slice(0, axis).reduce((product, size) => product * size, 1));
  let from = 0;
  for (let to = 0; to < values.length; ++to) {
    result[to] = values[from]!;
    for (let axis = shape.length - 1; axis >= 0; --axis) {
      from += strides[axis]!;
      if (++at[axis]! < shape[axis]!) break;
      from -= strides[axis]! * shape[axis]!;
      at[axis] = 0;
    }
  }
  return result;
}

export function readNpy(bytes: Uint8Array): Table {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 12) throw new ReadError(`byte ${bytes.length}: the file ends within its NPY header`);
  const version = bytes[6]!;
  if (version < 1 || version > 3) throw new ReadError(`byte 6: version ${version} of NPY is not known`);
  const begin = version === 1 ? 10 : 12;
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  const data = begin + length;
  if (data > bytes.length) throw new ReadError(`byte 8: the header should have ${length} bytes, the file ends after ${bytes.length - begin}`);
  if (length > MOST_HEADER) throw new ReadError(`byte 8: a header of ${length} bytes is too long; ${MOST_HEADER} are the most`);
  const header = new TextDecoder('latin1').decode(bytes.subarray(begin, data));
  const type = /'descr':\s*'([<>|=])([a-zA-Z]\d+)'/.exec(header);
  const order = /'fortran_order':\s*(True|False)/.exec(header)?.[1];
  const sizes = /'shape':\s*\(([\d,\s]*)\)/.exec(header)?.[1];
  if (order === undefined || sizes === undefined) throw new ReadError(`byte ${begin}: the header has no ${order === undefined ? 'fortran_order' : 'shape'}`);
  const kind = type ? KINDS[type[2]!] : undefined;
  if (!kind) {
    const name = /'descr':\s*([^,]+(?:,[^,]+?\])?)/.exec(header)?.[1] ?? 'none';
    throw new ReadError(`byte ${begin}: numbers of type ${name.slice(0, 40)} are not read; save numpy.float32`);
  }
  const shape = sizes.split(',').filter((size) => size.trim() !== '').map(Number);
  if (shape.length === 0) throw new ReadError(`byte ${begin}: a single number; an array with an axis of rows is needed`);
  if (shape.length > MOST_AXES) throw new ReadError(`byte ${begin}: ${shape.length} axes; ${MOST_AXES} are the most`);
  const size = sizeOf(shape, `byte ${begin}`);
  const [wide, take] = kind;
  if (bytes.length - data !== size * wide) {
    throw new ReadError(`byte ${data}: the shape ${shape.join(' × ')} needs ${size * wide} bytes, the file has ${bytes.length - data}`);
  }
  const values = new Float32Array(size);
  const little = type![1] !== '>';
  for (let i = 0; i < size; ++i) values[i] = take(view, data + i * wide, little);
  const fortran = order === 'True' && shape.length > 1;
  return arrayTable(shape, fortran ? turned(values, shape) : values, type![2] === 'u1', `NPY ${type![2]}${fortran ? ', Fortran order' : ''}`);
}
