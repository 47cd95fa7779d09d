/** One sentence that says what to look at now. It goes by what the model sees, not by labels. */
import type { Learnt } from './learner';
import type { Phase } from './player';

const RECENT = 24;
const MANY = 8;

export class Guide {
  private born: number | null = null;
  /** The last stream was the first. */
  private first = false;
  private clusters = 0;
  private novelty: ArrayLike<number> = [];
  private shown = 0;

  constructor(private readonly line: HTMLElement) {}

  clear(): void {
    this.born = null;
    this.clusters = this.shown = 0;
    this.novelty = [];
  }
  came(novelty: ArrayLike<number>, shown: number): void {
    [this.novelty, this.shown] = [novelty, shown];
  }
  learnt({ report }: Learnt): void {
    this.first = this.clusters === 0;
    [this.born, this.clusters] = [report.births, report.clusters];
  }

  /** `hurry`: streams still to come at full speed. */
  tell(phase: Phase, playing: boolean, hurry: number): void {
    const text = this.sentence(phase, playing, hurry);
    if (this.line.textContent !== text) this.line.textContent = text;
    this.line.classList.toggle(
      'is-novel',
      phase === 'arriving' ? this.clusters > 0 && this.surprised() : phase === 'resting' && Boolean(this.born),
    );
  }

  private surprised(): boolean {
    let novel = 0;
    for (let i = Math.max(0, this.shown - RECENT); i < this.shown; ++i) novel += this.novelty[i]! > 0.5 ? 1 : 0;
    return novel >= MANY;
  }

  private sentence(phase: Phase, playing: boolean, hurry: number): string {
    if (hurry > 0) return `Playing the link’s streams again: ${hurry === 1 ? 'the last one' : `${hurry} to go`} …`;
    if (phase === 'finished') return 'That was the last stream. Draw a symbol that it has never met, and feed it.';
    if (phase === 'learning') {
      return this.clusters === 0
        ? 'It is learning its first kinds, from nothing …'
        : 'It asks itself: do these rows need a cluster of their own?';
    }
    if (phase === 'resting' && this.born !== null) {
      if (this.first) return `It found ${this.clusters} kinds by itself. Nobody told it how many.`;
      return this.born ? 'A cluster is born. Nobody told it that there is a new kind.' : 'Learnt. These rows fit into what it knows.';
    }
    if (!playing) return 'Paused. Play goes on from here.';
    if (this.clusters === 0) return 'Rows come in. Nothing is learnt yet: all of them look new.';
    return this.surprised()
      ? 'Something new is coming in: look above the line.'
      : 'It knows these: their dots stay below the line.';
  }
}
