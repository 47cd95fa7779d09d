/** Numbers out of CSV or TSV text. What cannot be read is an error that names its line. */
import { MOST_NUMBERS, PREVIEW_ROWS, ReadError, tableOf, type Column, type Table } from './table';

const wrong = (line: number, message: string): ReadError => new ReadError(`line ${line}: ${message}`);

function quotedCells(line: string, separator: string, number: number): string[] {
  const cells: string[] = [];
  let at = 0;
  for (;;) {
    if (line[at] === '"') {
      let cell = '';
      for (++at; ; ++at) {
        if (at >= line.length) throw wrong(number, 'a quotation mark is not closed');
        if (line[at] !== '"') cell += line[at];
        else if (line[at + 1] === '"') cell += line[++at];
        else break;
      }
      cells.push(cell);
    } else {
      const end = line.indexOf(separator, at);
      cells.push(line.slice(at, end < 0 ? undefined : end).trim());
    }
    const end = line.indexOf(separator, at);
    if (end < 0) return cells;
    at = end + 1;
  }
}

function cellsOf(line: string, separator: string, number: number): string[] {
  if (separator === ' ') return line.trim().split(/ +/);
  if (line.includes('"')) return quotedCells(line, separator, number);
  return line.split(separator).map((cell) => cell.trim());
}

const isNumber = (cell: string): boolean => cell !== '' && Number.isFinite(Math.fround(Number(cell)));

export function readCsv(text: string): Table {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  let next = 0; // in `lines`; people count from 1
  const skipEmpty = (): void => {
    while (next < lines.length && lines[next]!.trim() === '') ++next;
  };
  skipEmpty();
  const first = lines[next];
  if (first === undefined) throw wrong(1, 'there is no row');
  const separator = ['\t', ';', ',', ' '].find((candidate) => first.trim().includes(candidate)) ?? ',';
  const head = cellsOf(first, separator, next + 1);
  const hasHead = !head.some(isNumber);
  if (hasHead) {
    const line = ++next;
    skipEmpty();
    if (next >= lines.length) throw wrong(line, 'there is a header and no row of numbers');
  }
  const start = cellsOf(lines[next]!, separator, next + 1);
  if (start.length !== head.length) throw wrong(next + 1, `${start.length} cells; the header has ${head.length}`);
  let width = 0;
  const columns = head.map((name, i): Column => {
    const at = isNumber(start[i]!) ? width++ : -1;
    return { name: (hasHead && name) || `column ${i + 1}`, at, words: [], low: 0, high: 0 };
  });
  if (width === 0) throw wrong(next + 1, 'no cell of the first row is a number');
  if ((lines.length - next) * width > MOST_NUMBERS) throw wrong(next + 1, `${lines.length - next} rows of ${width} numbers are too many for this page`);
  const rows = new Float32Array((lines.length - next) * width);
  let filled = 0;
  for (; next < lines.length; ++next) {
    if (lines[next]!.trim() === '') continue;
    const cells = cellsOf(lines[next]!, separator, next + 1);
    if (cells.length !== columns.length) throw wrong(next + 1, `${cells.length} cells where there should be ${columns.length}`);
    for (let i = 0; i < cells.length; ++i) {
      const [cell, column] = [cells[i]!, columns[i]!];
      if (column.at >= 0) {
        if (!isNumber(cell)) throw wrong(next + 1, cell === '' ? `the cell of “${column.name}” is empty` : `“${cell.slice(0, 40)}” in “${column.name}” is not a number`);
        rows[filled++] = Number(cell);
      } else if (column.words.length < PREVIEW_ROWS) column.words.push(cell.slice(0, 40));
    }
  }
  const by = { '\t': 'tabs', ';': 'semicolons', ',': 'commas', ' ': 'spaces' }[separator];
  return tableOf(columns, rows.slice(0, filled), null, head.length > 1 ? `Cells between ${by}, ${hasHead ? 'with' : 'without'} a header.` : 'One number a line.');
}
