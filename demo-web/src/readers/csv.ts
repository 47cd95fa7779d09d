/** Numbers out of CSV or TSV text. What cannot be read is an error that names its line. */
import { MOST_INPUTS, MOST_NUMBERS, PREVIEW_ROWS, ReadError, tableOf, type Column, type Table } from './table';

const wrong = (line: number, message: string): ReadError => new ReadError(`line ${line}: ${message}`);

/** At most `most` of them and one more: a line may be as long as the file. */
function quotedCells(line: string, separator: string, number: number, most: number): string[] {
  const cells: string[] = [];
  let at = 0;
  for (;;) {
    if (line[at] === '"') {
      const begin = ++at;
      for (; ; at += 2) {
        at = line.indexOf('"', at);
        if (at < 0) throw wrong(number, 'a quotation mark is not closed');
        if (line[at + 1] !== '"') break;
      }
      cells.push(line.slice(begin, at).replaceAll('""', '"'));
    } else {
      const end = line.indexOf(separator, at);
      cells.push(line.slice(at, end < 0 ? undefined : end).trim());
    }
    const end = line.indexOf(separator, at);
    if (end < 0 || cells.length > most) return cells;
    at = end + 1;
  }
}

function cellsOf(line: string, separator: string, number: number, most: number): string[] {
  if (separator === ' ') return line.trim().split(/ +/, most + 1);
  if (line.includes('"')) return quotedCells(line, separator, number, most);
  return line.split(separator, most + 1).map((cell) => cell.trim());
}

/** One line after another; none is kept. */
class Lines {
  /** Of the line that `line` is; people count from 1. */
  number = 0;
  line = '';
  private at = 0;

  constructor(private readonly text: string) {}

  /** To the next line that has something in it; false: there is none. */
  next(): boolean {
    const { text } = this;
    while (this.at < text.length) {
      const begin = this.at;
      let end = begin;
      while (end < text.length && text.charCodeAt(end) !== 10 && text.charCodeAt(end) !== 13) ++end;
      this.at = end + (text.charCodeAt(end) === 13 && text.charCodeAt(end + 1) === 10 ? 2 : 1);
      ++this.number;
      if (end === begin) continue;
      this.line = text.slice(begin, end);
      if (this.line.trim() !== '') return true;
    }
    return false;
  }

  /** This line and all that come, empty ones too, as far as `most` and one more. */
  left(most: number): number {
    let count = 1;
    for (let at = this.at; at < this.text.length && count <= most; ++at) {
      const code = this.text.charCodeAt(at);
      if (code === 10 || (code === 13 && this.text.charCodeAt(at + 1) !== 10)) ++count;
    }
    return count + 1; // the last one may end with the text
  }
}

const LONGEST_NAME = 80;
const shortened = (name: string): string => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name);

const isNumber = (cell: string): boolean => cell !== '' && Number.isFinite(Math.fround(Number(cell)));

export function readCsv(text: string): Table {
  const lines = new Lines(text.startsWith('\uFEFF') ? text.slice(1) : text);
  if (!lines.next()) throw wrong(1, 'there is no row');
  const trimmed = lines.line.trim();
  const separator = ['\t', ';', ',', ' '].find((candidate) => trimmed.includes(candidate)) ?? ',';
  const head = cellsOf(lines.line, separator, lines.number, MOST_INPUTS);
  if (head.length > MOST_INPUTS) throw wrong(lines.number, `rows of more than ${MOST_INPUTS} cells are too long for this page`);
  const hasHead = !head.some(isNumber);
  if (hasHead) {
    const { number } = lines;
    if (!lines.next()) throw wrong(number, 'there is a header and no row of numbers');
  }
  const start = cellsOf(lines.line, separator, lines.number, head.length);
  if (start.length !== head.length) throw wrong(lines.number, `${countOf(start, head.length)} cells; the header has ${head.length}`);
  let width = 0;
  const columns = head.map((name, i): Column => {
    const at = isNumber(start[i]!) ? width++ : -1;
    return { name: shortened((hasHead && name) || `column ${i + 1}`), at, words: [], low: 0, high: 0 };
  });
  if (width === 0) throw wrong(lines.number, 'no cell of the first row is a number');
  const most = Math.floor(MOST_NUMBERS / width);
  let rows = new Float32Array(Math.min(lines.left(most), most) * width);
  let filled = 0;
  do {
    const cells = cellsOf(lines.line, separator, lines.number, columns.length);
    if (cells.length !== columns.length) throw wrong(lines.number, `${countOf(cells, columns.length)} cells where there should be ${columns.length}`);
    if (filled === most * width) throw wrong(lines.number, `more than ${most} rows of ${width} numbers are too many for this page`);
    for (let i = 0; i < cells.length; ++i) {
      const [cell, column] = [cells[i]!, columns[i]!];
      if (column.at >= 0) {
        if (!isNumber(cell)) throw wrong(lines.number, cell === '' ? `the cell of “${column.name}” is empty` : `“${cell.slice(0, 40)}” in “${column.name}” is not a number`);
        rows[filled++] = Number(cell);
      } else if (column.words.length < PREVIEW_ROWS) column.words.push(cell.slice(0, 40));
    }
  } while (lines.next());
  rows = rows.slice(0, filled);
  const by = { '\t': 'tabs', ';': 'semicolons', ',': 'commas', ' ': 'spaces' }[separator];
  return tableOf(columns, rows, null, head.length > 1 ? `Cells between ${by}, ${hasHead ? 'with' : 'without'} a header.` : 'One number a line.');
}

/** Cells beyond one more than there should be are not counted. */
const countOf = (cells: string[], most: number): string => (cells.length > most ? `more than ${most}` : String(cells.length));
