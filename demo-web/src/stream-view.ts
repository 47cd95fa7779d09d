/** The stream as it comes: the row of now, the belt of those before, novelty against its line, what looked new. */
import type { Scores } from 'adapvae';
import { canvas, colour, element, fitted } from './dom';
import { drawAlone, drawRow } from './picture';
import { TableView, type Table } from './table-view';
import type { Stream } from './scenario';
import type { Learner } from './learner';

const NOVEL_ABOVE = 0.5;
const TILE = 44;
const TABLE_ROWS = 50;

interface Dot {
  /** Number of the row since the start, and its cluster. */
  number: number;
  id: number;
  novelty: number;
  unseen: boolean;
  /** After this row the stream was learnt, and these clusters were born. */
  born?: number[];
}

export class StreamView {
  private readonly current = canvas('current');
  private readonly belt = canvas('belt');
  private readonly trace = canvas('trace');
  private readonly tray = canvas('tray');
  private readonly verdict = element('verdict', HTMLParagraphElement);
  private readonly tally = element('tally', HTMLSpanElement);
  private readonly trayCount = element('tray-count', HTMLSpanElement);
  private readonly table: TableView;
  private dots: Dot[] = [];
  private count = 0;
  private drawn = 0;
  private stream: Stream | null = null;
  private scores: Scores | null = null;
  private shown = 0;

  constructor(private readonly learner: Learner) {
    drawAlone(this.current, null);
    this.table = new TableView(this.trace.closest('.card')!.querySelector('.head')!, element('legend', HTMLParagraphElement), () => this.lastRows());
    new ResizeObserver(() => this.draw()).observe(this.trace);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }

  clear(): void {
    this.dots = [];
    this.stream = this.scores = null;
    this.shown = this.count = 0;
    drawAlone(this.current, null);
    this.verdict.textContent = this.tally.textContent = '';
    this.draw();
  }

  began(stream: Stream, scores: Scores): void {
    // The same stream, scored once more: its dots come again.
    if (stream === this.stream) {
      this.dots.splice(this.dots.length - this.shown);
      this.count -= this.shown;
    }
    [this.stream, this.scores, this.shown] = [stream, scores, 0];
    element('unseen-legend', HTMLSpanElement).hidden = !stream.unseen.some(Boolean);
    element('stream-title', HTMLHeadingElement).textContent = stream.title;
    this.draw();
  }

  came(count: number): void {
    const { stream, scores } = this;
    if (!stream || !scores) return;
    for (let i = this.shown; i < count; ++i) {
      this.dots.push({ number: ++this.count, id: scores.id[i]!, novelty: scores.novelty[i]!, unseen: stream.unseen[i]! });
    }
    this.dots.splice(0, Math.max(0, this.dots.length - 2000));
    this.shown = count;
    this.draw();
  }

  learnt(born: number[]): void {
    const last = this.dots.at(-1);
    if (last) last.born = born;
    this.draw();
  }

  private lastRows(): Table {
    return {
      caption: `The last ${TABLE_ROWS} rows, the newest first`,
      heads: ['row', 'novelty', 'novel', 'nearest cluster', 'kind unseen before', 'then born'],
      rows: this.dots
        .slice(-TABLE_ROWS)
        .reverse()
        .map(({ number, id, novelty, unseen, born }) => [
          number,
          novelty.toFixed(2),
          novelty > NOVEL_ABOVE ? 'yes' : 'no',
          id || 'none yet',
          unseen ? 'yes' : 'no',
          born?.length ? `cluster ${born.join(', ')}` : '',
        ]),
    };
  }

  private row(i: number): Float32Array {
    const width = this.learner.inputs;
    return this.stream!.rows.subarray(i * width, (i + 1) * width);
  }

  /** Many rows may come within a frame; they are drawn once. */
  private draw(): void {
    this.table.changed();
    cancelAnimationFrame(this.drawn);
    this.drawn = requestAnimationFrame(() => {
      this.drawTrace();
      this.drawTiles();
      this.write();
    });
  }

  private drawTrace(): void {
    const { context, width, height } = fitted(this.trace);
    const [left, right, top, bottom] = [34, width - 6, 8, height - 12];
    const y = (novelty: number): number => bottom - novelty * (bottom - top);
    context.fillStyle = colour('novel-wash');
    context.fillRect(left, top, right - left, y(NOVEL_ABOVE) - top);
    context.fillStyle = colour('quiet');
    context.font = '11px system-ui, sans-serif';
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    for (const value of [0, NOVEL_ABOVE, 1]) context.fillText(String(value), left - 6, y(value));
    context.textAlign = 'left';
    // Asked once: each question to the style sheet costs.
    const [novelColour, plainColour, tickColour] = [colour('novel'), colour('plain'), colour('text')];
    const step = 3;
    const visible = this.dots.slice(-Math.floor((right - left) / step));
    visible.forEach(({ novelty, unseen }, i) => {
      const x = left + i * step;
      const novel = novelty > NOVEL_ABOVE;
      context.fillStyle = novel ? novelColour : plainColour;
      context.globalAlpha = novel ? 1 : 0.65;
      context.fillRect(x, y(novelty) - 1.5, 3, 3);
      if (novel) context.fillRect(x + 1, y(novelty), 1, y(NOVEL_ABOVE) - y(novelty));
      context.globalAlpha = 1;
      if (unseen) {
        context.fillStyle = tickColour;
        context.fillRect(x, bottom + 2, 2, 4);
      }
    });
    const label = (text: string, end: number, ground: string): void => {
      const wide = context.measureText(text).width;
      context.fillStyle = ground;
      context.fillRect(Math.max(left, end - wide - 8), top, wide + 8, 17);
      context.fillStyle = tickColour;
      context.fillText(text, Math.max(left, end - wide - 8) + 4, top + 9);
    };
    visible.forEach(({ born }, i) => {
      if (!born) return;
      const x = left + (i + 1) * step;
      context.fillStyle = tickColour;
      context.fillRect(x, top, 1, bottom - top + 6);
      if (born.length) label(`born: ${born.join(', ')}`, x, colour('card'));
    });
    context.strokeStyle = novelColour;
    context.setLineDash([5, 4]);
    context.beginPath();
    context.moveTo(left, y(NOVEL_ABOVE));
    context.lineTo(right, y(NOVEL_ABOVE));
    context.stroke();
    context.setLineDash([]);
  }

  private drawTiles(): void {
    const belt = fitted(this.belt);
    const tray = fitted(this.tray);
    if (!this.stream || !this.scores) return;
    const novelColour = colour('novel');
    for (let i = 0; i * TILE < belt.width && i < this.shown; ++i) {
      const at = this.shown - 1 - i;
      const x = i * TILE;
      drawRow(belt.context, this.row(at), x, 0, TILE - 4);
      belt.context.fillStyle = novelColour;
      if (this.scores.novelty[at]! > NOVEL_ABOVE) belt.context.fillRect(x, TILE - 4, TILE - 4, 4);
    }
    const novel: number[] = [];
    for (let i = this.shown - 1; i >= 0; --i) if (this.scores.novelty[i]! > NOVEL_ABOVE) novel.push(i);
    this.trayCount.textContent = String(novel.length);
    novel.slice(0, Math.floor(tray.width / TILE)).forEach((at, i) => drawRow(tray.context, this.row(at), i * TILE, 0, TILE - 4));
  }

  private write(): void {
    const { stream, scores, shown } = this;
    if (!stream || !scores || shown === 0) return;
    const at = shown - 1;
    drawAlone(this.current, this.row(at));
    const novelty = scores.novelty[at]!;
    const known = (this.learner.state?.info.streams ?? 0) > 0 && scores.id[at] !== 0;
    const strong = document.createElement('strong');
    strong.textContent = novelty > NOVEL_ABOVE ? 'novel' : `cluster ${scores.id[at]}`;
    strong.className = novelty > NOVEL_ABOVE ? 'is-novel' : '';
    this.verdict.replaceChildren(strong, ` novelty ${novelty.toFixed(2)}`);
    if (!known) {
      this.tally.textContent = `Row ${shown} of ${stream.count}. Nothing is learnt yet, so everything is novel.`;
      return;
    }
    const counts = { old: 0, oldNovel: 0, fresh: 0, freshNovel: 0 };
    for (let i = 0; i < shown; ++i) {
      const novel = scores.novelty[i]! > NOVEL_ABOVE ? 1 : 0;
      if (stream.unseen[i]) {
        ++counts.fresh;
        counts.freshNovel += novel;
      } else {
        ++counts.old;
        counts.oldNovel += novel;
      }
    }
    const part = (n: number, of: number): string => `${n} of ${of}`;
    this.tally.textContent =
      `Row ${shown} of ${stream.count}. Above the line: ${part(counts.oldNovel, counts.old)} rows` +
      (stream.unseen.some(Boolean) ? ` of kinds met before, ${part(counts.freshNovel, counts.fresh)} of the new kind.` : '.');
  }
}
