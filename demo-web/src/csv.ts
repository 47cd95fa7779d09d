/** Numbers out of CSV or TSV text. What cannot be read is an error that names its line. */
export class CsvError extends Error {
  constructor(
    readonly line: number,
    message: string,
  ) {
    super(`line ${line}: ${message}`);
  }
}

export interface Table {
  /** Columns of numbers, by their header or their place. */
  columns: string[];
  /** Columns of words, which are left out. */
  leftOut: string[];
  rows: Float32Array<ArrayBuffer>;
  count: number;
}

function cellsOf(line: string, separator: string, number: number): string[] {
  const cells: string[] = [];
  let at = 0;
  for (;;) {
    if (line[at] === '"') {
      let cell = '';
      for (++at; ; ++at) {
        if (at >= line.length) throw new CsvError(number, 'a quotation mark is not closed');
        if (line[at] !== '"') cell += line[at];
        else if (line[at + 1] === '"') cell += line[++at];
        else break;
      }
      cells.push(cell);
      const end = line.indexOf(separator, at);
      if (end < 0) return cells;
      at = end + 1;
    } else {
      const end = line.indexOf(separator, at);
      cells.push(line.slice(at, end < 0 ? undefined : end).trim());
      if (end < 0) return cells;
      at = end + 1;
    }
  }
}

const isNumber = (cell: string): boolean => cell !== '' && Number.isFinite(Number(cell));

export function readCsv(text: string): Table {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .map((line, i) => ({ line, number: i + 1 }))
    .filter(({ line }) => line.trim() !== '');
  const first = lines[0];
  if (!first) throw new CsvError(1, 'the file is empty');
  const separator = ['\t', ';', ','].find((candidate) => first.line.includes(candidate)) ?? ',';
  const head = cellsOf(first.line, separator, first.number);
  const hasHead = !head.some(isNumber);
  const body = hasHead ? lines.slice(1) : lines;
  const start = body[0];
  if (!start) throw new CsvError(first.number, 'there is a header and no row');
  const names = hasHead ? head : head.map((_, i) => `column ${i + 1}`);
  const kept = cellsOf(start.line, separator, start.number).map(isNumber);
  if (kept.length !== names.length) throw new CsvError(start.number, `${kept.length} cells; the header has ${names.length}`);
  const columns = names.filter((_, i) => kept[i]);
  if (columns.length === 0) throw new CsvError(start.number, 'no column of numbers');
  const rows = new Float32Array(body.length * columns.length);
  let at = 0;
  for (const { line, number } of body) {
    const cells = cellsOf(line, separator, number);
    if (cells.length !== names.length) throw new CsvError(number, `${cells.length} cells where there should be ${names.length}`);
    cells.forEach((cell, i) => {
      if (!kept[i]) return;
      if (!isNumber(cell)) throw new CsvError(number, `“${cell.slice(0, 40)}” in “${names[i]}” is not a number`);
      rows[at++] = Number(cell);
    });
  }
  return { columns, leftOut: names.filter((_, i) => !kept[i]), rows, count: body.length };
}
