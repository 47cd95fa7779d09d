/** A person's rows as something that can stream in. */
import type { Options } from 'adapvae';
import { pictureOf, type Picture } from './picture';
import type { Source } from './player';
import type { Table } from './readers/table';
import type { Stream } from './scenario';
import { digitsOptions } from './scenario';
import { fewOptions, signalOptions, type Choice } from './sources';

/** standardise: the model does it, by the first stream. range: every column from 0 to 1. none: as they are. */
export type Scaling = 'standardise' | 'range' | 'none';

export interface Settings {
  /** Places in a row of the table. */
  columns: number[];
  scaling: Scaling;
  streamRows: number;
}

export const inUnit = (table: Table): boolean => table.columns.every(({ at, low, high }) => at < 0 || (low >= 0 && high <= 1));

const FEW_INPUTS = 32; // need a small network, which learns fast
const LEAST_SIDE = 20; // images from here on are like the digits; smaller ones do not bear to be moved and bent

function optionsFor(table: Table, { columns, scaling, streamRows }: Settings, seed: number): Options {
  const inputs = columns.length;
  const unit = scaling === 'range' || (scaling === 'none' && inUnit(table));
  const { image } = table;
  if (image && unit && Math.min(image.width, image.height) >= LEAST_SIDE) {
    return { ...digitsOptions(seed), inputs, block_rows: streamRows, image_width: image.width, image_height: image.height };
  }
  return {
    ...(inputs <= FEW_INPUTS ? fewOptions(inputs, seed) : signalOptions(inputs, seed)),
    block_rows: streamRows,
    likelihood: unit ? 'bernoulli' : 'gaussian',
    scale_inputs: scaling === 'standardise' ? 'standardise' : 'off',
  };
}

/** Of the columns of numbers, by their place: what becomes 0 and what becomes 1. Pixels have one range for all. */
function rangesOf(table: Table): { low: number; high: number }[] {
  const kept = table.columns.filter(({ at }) => at >= 0);
  if (!table.image) return kept;
  const whole = kept.reduce((all, { low, high }) => ({ low: Math.min(all.low, low), high: Math.max(all.high, high) }), { low: Infinity, high: -Infinity });
  return kept.map(() => whole);
}

/** Images that use little of what is between 0 and 1 are better stretched. */
export function bestScaling(table: Table): Scaling {
  if (!inUnit(table)) return 'standardise';
  return table.image && rangesOf(table)[0]!.high < 0.5 ? 'range' : 'none';
}

/** Some rows as the model will get them. */
export function rowsOf(table: Table, { columns, scaling }: Settings, at: number, count: number): Float32Array<ArrayBuffer> {
  const rows = new Float32Array(count * columns.length);
  const ranges = rangesOf(table);
  columns.forEach((from, to) => {
    const { low, high } = ranges[from]!;
    const [less, by] = scaling === 'range' ? [low, high - low || 1] : [0, 1];
    for (let i = 0; i < count; ++i) rows[i * columns.length + to] = (table.rows[(at + i) * table.width + from]! - less) / by;
  });
  return rows;
}

class TableSource implements Source {
  private at = 0;

  constructor(
    private readonly table: Table,
    private readonly name: string,
    private readonly settings: Settings,
  ) {}

  get finished(): boolean {
    return this.at >= this.table.count;
  }

  next(): Stream {
    const { table, at, settings } = this;
    const count = Math.min(settings.streamRows, table.count - at);
    const rows = rowsOf(table, settings, at, count);
    this.at += count;
    return {
      title: `${this.name}: rows ${at + 1} to ${at + count} of ${table.count}`,
      rows,
      count,
      labels: Array<string>(count).fill(''),
      unseen: Array<boolean>(count).fill(false),
    };
  }
}

export function ownChoice(table: Table, name: string, settings: Settings): Choice {
  const { columns, scaling } = settings;
  const all = rangesOf(table);
  const ranges = columns.map((at) => (scaling === 'range' ? { low: 0, high: 1 } : all[at]!));
  const picture: Picture = table.image ? { kind: 'image', ...table.image } : pictureOf(ranges.map(({ low }) => low), ranges.map(({ high }) => high));
  return {
    id: 'own',
    title: name.length > 24 ? `${name.slice(0, 23)}…` : name,
    lead: `Your rows stream in, ${settings.streamRows} at a time, in their order. Nobody tells the model what they are; it stores none of them, and none leaves this page.`,
    inputs: columns.length,
    seed: 1,
    options: (seed) => optionsFor(table, settings, seed),
    make: async () => new TableSource(table, name, settings),
    picture,
  };
}
