/** The figures that the page's model came to, beside those of the native library on the same rows. */
import { bundledDigits } from './digits';
import { announce, element, grouped } from './dom';
import { figuresOf, type Figures } from './figures';
import type { Learner } from './learner';
import native from './native.json';
import { streamsOf } from './scenario';

type Native = Record<'baseline' | 'avx2', Pick<Figures, 'nmi' | 'clusters'>>;
const KERNELS = { baseline: 'native, SSE2 kernels', avx2: 'native, AVX2 kernels' } as const;
const measured = native.seeds as Record<string, Native>;

export class FiguresView {
  private readonly table = element('figures', HTMLTableElement);
  private readonly note = element('figures-note', HTMLParagraphElement);
  private turn = 0;

  constructor(private readonly learner: Learner) {
    this.clear();
  }

  clear(): void {
    ++this.turn;
    this.table.hidden = true;
    this.note.textContent = 'The figures come when all streams of digits have played.';
  }

  /** All streams of digits have played. */
  async finished(seed: number): Promise<void> {
    const turn = ++this.turn;
    this.note.textContent = 'All rows are scored once more.';
    const ours = await figuresOf(streamsOf(await bundledDigits()), async (rows) => (await this.learner.score(rows)).id);
    if (turn !== this.turn) return;
    const lines: [string, string, string][] = [['this page', ours.nmi.toFixed(3), String(ours.clusters)]];
    const own = this.learner.corrected || this.learner.state?.info.rows !== ours.rows;
    const same = own ? undefined : measured[String(seed)];
    for (const kernels of ['baseline', 'avx2'] as const) {
      if (same) lines.push([KERNELS[kernels], same[kernels].nmi.toFixed(3), String(same[kernels].clusters)]);
      else lines.push([`${KERNELS[kernels]}, ${Object.keys(measured).length} seeds`, ...range(kernels)]);
    }
    const body = this.table.tBodies[0]!;
    body.replaceChildren();
    for (const [name, ...values] of lines) {
      const row = body.insertRow();
      const head = document.createElement('th');
      head.scope = 'row';
      head.textContent = name;
      row.append(head);
      for (const value of values) row.insertCell().textContent = value;
    }
    this.table.hidden = false;
    this.note.textContent =
      `${grouped(ours.rows)} rows, seed ${seed}. ` +
      (own
        ? 'You have had a hand in this model, so the native figures are those of untouched ones.'
        : same
          ? 'SSE2 kernels round as this page does. AVX2 kernels round otherwise, and learning makes another path out of that: as far from this one as another seed may be.'
          : `Seed ${seed} was not measured natively.`);
    announce(`All streams have played. N M I ${ours.nmi.toFixed(2)}, ${ours.clusters} clusters.`);
  }
}

function range(kernels: keyof Native): [string, string] {
  const all = Object.values(measured).map((figures) => figures[kernels]);
  const span = (values: number[], show: (value: number) => string): string => `${show(Math.min(...values))} to ${show(Math.max(...values))}`;
  return [span(all.map((each) => each.nmi), (value) => value.toFixed(3)), span(all.map((each) => each.clusters), String)];
}
