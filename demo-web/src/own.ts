/** A person's rows as something that can stream in. */
import type { Options } from 'adapvae';
import { pictureOf, type Picture } from './picture';
import type { Source } from './player';
import type { Table } from './readers/table';
import type { Stream } from './scenario';
import { digitsOptions, type Choice } from './sources';

/** standardise: the model does it, by the first stream. range: every column from 0 to 1. none: as they are. */
export type Scaling = 'standardise' | 'range' | 'none';

export interface Settings {
  /** Places in a row of the table. */
  columns: number[];
  scaling: Scaling;
  streamRows: number;
}

export const inUnit = (table: Table): boolean => table.columns.every(({ at, low, high }) => at < 0 || (low >= 0 && high <= 1));

const FEW_INPUTS = 32; // need no more, and learn faster

export function optionsFor(table: Table, { columns, scaling, streamRows }: Settings, seed: number): Options {
  const inputs = columns.length;
  const unit = scaling === 'range' || (scaling === 'none' && inUnit(table));
  const rows = { inputs, block_rows: streamRows };
  if (table.image && unit && inputs === table.width) {
    return { ...digitsOptions(seed), ...rows, image_width: table.image.width, image_height: table.image.height };
  }
  return {
    ...rows,
    ...(unit ? {} : { likelihood: 'gaussian' }),
    ...(scaling === 'standardise' ? { scale_inputs: 'standardise' } : {}),
    ...(inputs <= FEW_INPUTS ? { latent: Math.max(2, Math.min(4, inputs)), hidden1: 32, hidden2: 0 } : { latent: 8, hidden1: 128, hidden2: 64 }),
    false_alarm_rate: 0.02,
    seed,
  };
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
    const { table, at } = this;
    const { columns, scaling, streamRows } = this.settings;
    const count = Math.min(streamRows, table.count - at);
    const rows = new Float32Array(count * columns.length);
    const kept = table.columns.filter((column) => column.at >= 0);
    columns.forEach((from, to) => {
      const { low, high } = kept[from]!;
      const [less, by] = scaling === 'range' ? [low, high - low || 1] : [0, 1];
      for (let i = 0; i < count; ++i) rows[i * columns.length + to] = (table.rows[(at + i) * table.width + from]! - less) / by;
    });
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
  const kept = table.columns.filter(({ at }) => at >= 0);
  const chosen = columns.map((at) => kept[at]!);
  const picture: Picture =
    table.image && columns.length === table.width
      ? { kind: 'image', ...table.image }
      : scaling === 'range'
        ? pictureOf(chosen.map(() => 0), chosen.map(() => 1))
        : pictureOf(chosen.map(({ low }) => low), chosen.map(({ high }) => high));
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
