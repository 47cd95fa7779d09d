/** The rows of a person's file as streams, in their order. */
import type { Options } from 'adapvae';
import type { Table } from './csv';
import type { Source } from './player';
import type { Stream } from './scenario';

const STREAM_ROWS = 300;

export function optionsFor({ columns }: Table): Options {
  return { inputs: columns.length, scale_inputs: 'standardise', likelihood: 'gaussian', block_rows: STREAM_ROWS, latent: Math.max(2, Math.min(8, columns.length)), seed: 1 };
}

export class TableSource implements Source {
  private at = 0;

  constructor(
    private readonly table: Table,
    private readonly name: string,
  ) {}

  get finished(): boolean {
    return this.at >= this.table.count;
  }

  next(): Stream {
    const width = this.table.columns.length;
    const count = Math.min(STREAM_ROWS, this.table.count - this.at);
    const rows = this.table.rows.slice(this.at * width, (this.at + count) * width);
    const title = `${this.name}: rows ${this.at + 1} to ${this.at + count}`;
    this.at += count;
    return { title, rows, count, labels: Array<string>(count).fill(''), unseen: Array<boolean>(count).fill(false) };
  }
}
