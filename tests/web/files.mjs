// Files as other programs write them.
import { deflateSync } from 'node:zlib';

// `text` is the header, a Python dictionary.
export function npy(text, data, version = 1) {
  const begin = version === 1 ? 10 : 12;
  const header = Buffer.from(text.padEnd(Math.ceil((begin + text.length + 1) / 64) * 64 - begin - 1) + '\n', 'latin1');
  const front = Buffer.alloc(begin);
  front.write('\x93NUMPY', 'latin1');
  front[6] = version;
  if (version === 1) front.writeUInt16LE(header.length, 8);
  else front.writeUInt32LE(header.length, 8);
  return Buffer.concat([front, header, Buffer.from(data.buffer, data.byteOffset, data.byteLength)]);
}
export const npyHeader = (type, shape, fortran = false) =>
  `{'descr': '${type}', 'fortran_order': ${fortran ? 'True' : 'False'}, 'shape': (${shape.join(', ')}${shape.length === 1 ? ',' : ''}), }`;

export function idx(type, shape, data) {
  const front = Buffer.alloc(4 + 4 * shape.length);
  front[2] = type;
  front[3] = shape.length;
  shape.forEach((size, axis) => front.writeUInt32BE(size, 4 + 4 * axis));
  return Buffer.concat([front, Buffer.from(data)]);
}

const TABLE = Uint32Array.from({ length: 256 }, (_, i) => {
  let value = i;
  for (let bit = 0; bit < 8; ++bit) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});
function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name), data]);
  let sum = 0xffffffff;
  for (const byte of body) sum = TABLE[(sum ^ byte) & 255] ^ (sum >>> 8);
  const result = Buffer.alloc(body.length + 8);
  result.writeUInt32BE(data.length, 0);
  body.copy(result, 4);
  result.writeUInt32BE((sum ^ 0xffffffff) >>> 0, body.length + 4);
  return result;
}
// A grey picture; `shade(x, y)` is 0 to 255.
export function png(width, height, shade) {
  const lines = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; ++y) for (let x = 0; x < width; ++x) lines[y * (width + 1) + 1 + x] = shade(x, y);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8;
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
