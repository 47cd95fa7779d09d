// Models as nobody would make them: files with a right checksum that claim what they like.
import { AdapVAE } from 'adapvae';

const TABLE = BigUint64Array.from({ length: 256 }, (_, i) => {
  let value = BigInt(i);
  for (let bit = 0; bit < 8; ++bit) value = value & 1n ? 0xc96c5795d7870f42n ^ (value >> 1n) : value >> 1n;
  return value;
});
// CRC-64/XZ, see docs/format.md.
function checksum(bytes) {
  let sum = 0xffffffffffffffffn;
  for (const byte of bytes) sum = TABLE[Number((sum ^ BigInt(byte)) & 255n)] ^ (sum >> 8n);
  return sum ^ 0xffffffffffffffffn;
}

// A model's file with other metadata.
export function forged(file, metadata) {
  const length = Number(Buffer.from(file).readBigUInt64LE(0));
  const header = JSON.parse(Buffer.from(file.subarray(8, 8 + length)).toString());
  const none = '0'.repeat(16);
  Object.assign(header.__metadata__, metadata, { 'adapvae.checksum': none });
  let text = JSON.stringify(header);
  text += ' '.repeat((64 - ((Buffer.byteLength(text) + 8) % 64)) % 64);
  const front = Buffer.alloc(8);
  front.writeBigUInt64LE(BigInt(Buffer.byteLength(text)));
  const result = Buffer.concat([front, Buffer.from(text), file.subarray(8 + length)]);
  result.write(checksum(result).toString(16).padStart(16, '0'), result.indexOf(none));
  return result;
}

// A small model of places on a plane; `use` may change it before it is saved.
export async function modelOf(options = {}, use = () => {}, count = 300) {
  const model = await AdapVAE.create({
    inputs: 2,
    latent: 2,
    hidden1: 16,
    hidden2: 0,
    likelihood: 'gaussian',
    pretrain_epochs: 20,
    adapt_epochs: 5,
    block_rows: count,
    seed: 1,
    ...options,
  });
  model.learn(Float32Array.from({ length: 2 * count }, (_, i) => 3 * ((i >> 1) % 3) * (i % 2 ? 1 : -1) + Math.sin(i * i)));
  use(model);
  const file = model.save();
  model.dispose();
  return file;
}
