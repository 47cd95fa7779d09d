/** What every reader gives: rows of numbers, and what a person wants to know of their columns. */
export interface Column {
  name: string;
  /** Place in a row; -1: words, which are no part of it. */
  at: number;
  /** The first cells of a column of words. */
  words: string[];
  low: number;
  high: number;
}

export interface Table {
  /** All of the file's, in its order. */
  columns: Column[];
  rows: Float32Array<ArrayBuffer>;
  count: number;
  /** Numbers in a row. */
  width: number;
  /** Rows are images, numbers in [0, 1]. */
  image: { width: number; height: number } | null;
  /** One sentence on how it was read. */
  note: string;
}

/** What is wrong, and where. */
export class ReadError extends Error {}

/** Numbers that a page can hold. */
export const MOST_NUMBERS = 50_000_000;

export const PREVIEW_ROWS = 6;

/** Fills in the ranges; a number that is none is an error that names its row. */
export function tableOf(columns: Column[], rows: Float32Array<ArrayBuffer>, image: Table['image'], note: string): Table {
  const kept = columns.filter(({ at }) => at >= 0);
  const width = kept.length;
  const count = rows.length / width;
  for (const column of kept) [column.low, column.high] = [Infinity, -Infinity];
  for (let i = 0; i < rows.length; ++i) {
    const value = rows[i]!;
    const column = kept[i % width]!;
    if (!Number.isFinite(value)) throw new ReadError(`row ${Math.floor(i / width) + 1}, ${column.name}: a number that is not finite`);
    if (value < column.low) column.low = value;
    if (value > column.high) column.high = value;
  }
  return { columns, rows, count, width, image, note };
}

export const numberedColumns = (count: number): Column[] =>
  Array.from({ length: count }, (_, at) => ({ name: `column ${at + 1}`, at, words: [], low: 0, high: 0 }));

export const MOST_INPUTS = 1 << 16; // numbers in a row

/** Of an array: its first axis counts rows, the others make one of them. Bytes become numbers in [0, 1], as in the program. */
export function arrayTable(shape: number[], values: Float32Array<ArrayBuffer>, bytes: boolean, what: string): Table {
  const inputs = shape.slice(1).reduce((product, size) => product * size, 1);
  if (inputs > MOST_INPUTS) throw new ReadError(`rows of ${inputs} numbers are too long for this page; ${MOST_INPUTS} are the most`);
  if (bytes) for (let i = 0; i < values.length; ++i) values[i]! /= 255;
  const table = tableOf(numberedColumns(inputs), values, null, `${what}, shape ${shape.join(' × ')}${bytes ? '; bytes became numbers from 0 to 1' : ''}.`);
  const unit = table.columns.every(({ low, high }) => low >= 0 && high <= 1);
  if (shape.length === 3 && unit) table.image = { height: shape[1]!, width: shape[2]! };
  return table;
}

/** As many numbers as an array's shape says; also where that is too many. */
export function sizeOf(shape: number[], where: string): number {
  const empty = shape.indexOf(0);
  if (empty >= 0) throw new ReadError(`${where}: axis ${empty} of the shape has no entry`);
  const size = shape.reduce((product, length) => product * length, 1);
  if (size > MOST_NUMBERS) throw new ReadError(`${where}: ${size} numbers are too many for this page`);
  return size;
}
