/** Small pictures of the clusters after every change, so that the page can show what an event did. They are the page's, not the model's. */
import type { Learner } from './learner';

const MOST_STATES = 80;
const MOST_NUMBERS = 1 << 23; // of all pictures

interface Moment {
  /** The last event that had happened. */
  sequence: number;
  pictures: Map<number, Picture>;
}
export interface Picture {
  row: Float32Array;
  rows: number;
  name: string;
}

export class Past {
  private moments: Moment[] = [];
  private turn = -1;

  constructor(private readonly learner: Learner) {
    learner.onChange(() => this.note());
    this.note();
  }

  private note(): void {
    const { state, turn } = this.learner;
    if (!state) return;
    if (turn !== this.turn) this.moments = [];
    this.turn = turn;
    const sequence = state.events.at(-1)?.sequence ?? state.info.events;
    const pictures = new Map(state.clusters.map(({ id, name, prototype, rows }) => [id, { row: prototype, rows, name }]));
    if (this.moments.at(-1)?.sequence === sequence) this.moments.pop();
    this.moments.push({ sequence, pictures });
    const most = Math.min(MOST_STATES, Math.floor(MOST_NUMBERS / Math.max(1, pictures.size * state.info.inputs)));
    this.moments.splice(0, Math.max(0, this.moments.length - Math.max(1, most)));
  }

  /** The clusters as they were before the change that an event belongs to, and after it; null where the page did not see them. */
  around(sequence: number): { before: Map<number, Picture> | null; after: Map<number, Picture> | null } {
    const at = this.moments.findIndex((moment) => moment.sequence >= sequence);
    return { before: this.moments[at - 1]?.pictures ?? null, after: this.moments[at]?.pictures ?? null };
  }
}
