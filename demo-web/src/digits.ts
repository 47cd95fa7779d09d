/** The digits that come with the page; see tools/make-digits.mjs for the file. */
export const PIXELS = 28 * 28;
const HEADER = 4;

export interface Digits {
  kinds: number;
  each: number;
  /** Writes one image, as numbers in [0, 1], to row `at` of `rows`. */
  copy(kind: number, index: number, rows: Float32Array, at: number): void;
}

async function fetchDigits(address: string): Promise<Digits> {
  const response = await fetch(address);
  if (!response.ok || !response.body) throw new Error(`the digits could not be fetched: ${response.status}`);
  const packed = new Uint8Array(await response.arrayBuffer());
  // Some servers say that a gzipped file is a compressed answer; then the browser has opened it already.
  const gzipped = packed[0] === 0x1f && packed[1] === 0x8b;
  const bytes = gzipped
    ? new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer())
    : packed;
  return digitsIn(bytes);
}

/** Of the unpacked file. */
export function digitsIn(bytes: Uint8Array): Digits {
  const [kinds, each] = [bytes[0]! + 256 * bytes[1]!, bytes[2]! + 256 * bytes[3]!];
  if (bytes.length !== HEADER + kinds * each * PIXELS) throw new Error('the file of digits is damaged');
  return {
    kinds,
    each,
    copy(kind, index, rows, at) {
      const start = HEADER + (kind * each + (index % each)) * PIXELS;
      for (let j = 0; j < PIXELS; ++j) rows[at * PIXELS + j] = bytes[start + j]! / 255;
    },
  };
}

let digits: Promise<Digits> | null = null;
/** Those that come with the page, fetched when they are first asked for. */
export function bundledDigits(): Promise<Digits> {
  digits ??= fetchDigits(`${import.meta.env.BASE_URL}digits.bin`).catch((error) => {
    digits = null; // another time it may work
    throw error;
  });
  return digits;
}
