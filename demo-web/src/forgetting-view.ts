/** The same streams learnt with replay and without, side by side. Nothing is made before the person asks for it. */
import { AdapVAE } from 'adapvae/worker';
import type { Options } from 'adapvae';
import { bundledDigits } from './digits';
import { announce, button, canvas, colour, element, fitted, grouped } from './dom';
import { COURSE, Course, HELD_OUT, Pupil, type Step } from './forgetting';
import { drawRow } from './picture';
import { TableView, type Table } from './table-view';

const GAP = 3;
const LABEL = 34; // pixels for the names of the streams
const LARGEST_TILE = 46;
const HEAD = 18;
const percent = (part: number): string => `${Math.round(100 * part)} %`;
const FIRST = COURSE[0].join(' and ');

interface Side {
  title: string;
  /** Rows drawn from memory for each new one. Nothing: as the preset has it. */
  ratio?: number;
  strip: HTMLCanvasElement;
  note: HTMLElement;
  steps: Step[];
}
type State = 'idle' | 'running' | 'paused' | 'done';

export class ForgettingView {
  private readonly section = element('forgetting-section', HTMLElement);
  private readonly result = element('forgetting-result', HTMLDivElement);
  private readonly note = element('forgetting-note', HTMLParagraphElement);
  private readonly chart = canvas('kept');
  private readonly table: TableView;
  private readonly sides: Side[] = [
    { title: 'with replay', strip: canvas('replay-on'), note: element('replay-on-note', HTMLParagraphElement), steps: [] },
    { title: 'without replay', ratio: 0, strip: canvas('replay-off'), note: element('replay-off-note', HTMLParagraphElement), steps: [] },
  ];
  private models: { dispose(): void }[] = [];
  private state: State = 'idle';
  /** Goes up with every start and stop, so that answers of older models are dropped. */
  private turn = 0;
  private goOn: () => void = () => {};

  constructor(
    private readonly options: () => Options,
    /** The page's own stream waits while two models learn; gives what lets it go on. */
    private readonly hold: () => () => void,
    private readonly failed: (error: unknown) => void,
  ) {
    const go = button('forgetting-go');
    go.onclick = () => {
      if (this.state === 'running') this.enter('paused');
      else if (this.state === 'paused') {
        this.enter('running');
        this.goOn();
      } else void this.run().catch((error) => this.fail(error));
    };
    button('forgetting-stop').onclick = () => this.stop();
    this.table = new TableView(this.section.querySelector('.head')!, this.result, () => this.rows());
    new ResizeObserver(() => this.draw()).observe(this.result);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
    this.enter('idle');
  }

  private enter(state: State): void {
    this.state = state;
    this.section.dataset['state'] = state;
    button('forgetting-go').textContent = { idle: 'Compare', running: 'Pause', paused: 'Go on', done: 'Once more' }[state];
    button('forgetting-stop').hidden = state === 'idle' || state === 'done';
  }

  private end(): void {
    ++this.turn;
    for (const model of this.models) model.dispose();
    this.models = [];
    this.goOn();
  }

  private stop(): void {
    this.end();
    this.enter('done');
    this.note.textContent = `Stopped after ${this.sides[0]!.steps.length} of ${COURSE.length} streams.`;
  }

  private fail(error: unknown): void {
    this.end();
    this.enter('done');
    this.failed(error);
  }

  private async run(): Promise<void> {
    const turn = ++this.turn;
    const release = this.hold();
    try {
      for (const side of this.sides) side.steps = [];
      this.result.hidden = false;
      this.enter('running');
      this.draw();
      const course = new Course(await bundledDigits());
      const models = await Promise.all(
        this.sides.map(({ ratio }) => AdapVAE.create({ ...this.options(), ...(ratio === undefined ? {} : { replay_ratio: ratio }) })),
      );
      if (turn !== this.turn) return models.forEach((model) => model.dispose());
      this.models = models;
      const pupils = models.map((model) => new Pupil(model, course));
      this.sides.forEach((side, i) => (side.steps = pupils[i]!.steps));
      for (const [at, kinds] of COURSE.entries()) {
        if (this.state === 'paused') {
          this.note.textContent = `Paused before stream ${at + 1}.`;
          await new Promise<void>((resolve) => (this.goOn = resolve));
        }
        if (turn !== this.turn) return;
        this.note.textContent = `Stream ${at + 1} of ${COURSE.length}: both learn ${kinds.join(' and ')}.`;
        const rows = course.stream(kinds);
        await Promise.all(pupils.map((pupil) => pupil.learn(rows).then(() => turn === this.turn && this.draw())));
      }
      if (turn !== this.turn) return;
      this.end();
      this.enter('done');
      const [on, off] = this.sides.map(({ steps }) => percent(steps.at(-1)!.first));
      const said = `Of the ${FIRST} of the first stream ${on} are still recognised with replay, ${off} without.`;
      this.note.textContent = said;
      announce(said);
    } catch (error) {
      if (turn === this.turn) throw error; // a stopped model does not answer
    } finally {
      release();
    }
  }

  private rows(): Table {
    const [on, off] = this.sides.map(({ steps }) => steps);
    const cells = (step: Step | undefined): string[] => (step ? [percent(step.first), percent(step.all), String(step.clusters.length)] : ['–', '–', '–']);
    return {
      caption: `Held-out rows that are still recognised, after each stream: of the first stream's kinds (${FIRST}) and of all kinds met so far`,
      heads: ['stream', ...this.sides.flatMap(({ title }) => [`${FIRST}, ${title}`, `all, ${title}`, `clusters, ${title}`])],
      rows: COURSE.map((kinds, i) => [`${i + 1}: ${kinds.join(' and ')}`, ...cells(on![i]), ...cells(off![i])]),
    };
  }

  private draw(): void {
    this.table.changed();
    if (this.result.hidden || this.chart.clientWidth === 0) return;
    for (const side of this.sides) this.drawStrip(side);
    this.drawChart();
  }

  /** A line a stream, a column a cluster: what the model drew of it after that stream. */
  private drawStrip({ strip, steps, note, title }: Side): void {
    const ids = [...new Set(steps.flatMap(({ clusters }) => clusters.map(({ id }) => id)))].sort((a, b) => a - b);
    const tile = Math.min(LARGEST_TILE, Math.floor((strip.clientWidth - LABEL) / Math.max(10, ids.length)));
    strip.style.height = `${HEAD + COURSE.length * tile}px`;
    const { context } = fitted(strip);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.fillStyle = colour('quiet');
    context.textAlign = 'left';
    COURSE.forEach((kinds, i) => context.fillText(kinds.join(', '), 0, HEAD + (i + 0.5) * tile - GAP / 2));
    context.textAlign = 'center';
    ids.forEach((id, j) => context.fillText(String(id), LABEL + j * tile + (tile - GAP) / 2, HEAD / 2));
    steps.forEach(({ clusters }, i) => {
      for (const { id, prototype } of clusters) drawRow(context, prototype, LABEL + ids.indexOf(id) * tile, HEAD + i * tile, tile - GAP);
    });
    context.fillStyle = colour('sunken');
    for (let i = steps.length; i < COURSE.length; ++i)
      for (let j = 0; j < Math.max(2, ids.length); ++j) context.fillRect(LABEL + j * tile, HEAD + i * tile, tile - GAP, tile - GAP);
    const last = steps.at(-1);
    strip.setAttribute('aria-label', `What the model ${title} draws of each cluster after each of ${steps.length} streams`);
    note.textContent = last
      ? `${Math.round(last.first * COURSE[0].length * HELD_OUT)} of ${COURSE[0].length * HELD_OUT} recognised. ` +
        `${last.rowsStored} past rows stored, ${grouped(last.statistics)} bytes of statistics.`
      : 'Learns its first stream.';
  }

  private drawChart(): void {
    const { context, width, height } = fitted(this.chart);
    const narrow = width < 460;
    const [left, right, top, bottom] = [44, width - (narrow ? 46 : 148), 10, height - 20];
    const x = (i: number): number => left + (i / (COURSE.length - 1)) * (right - left);
    const y = (part: number): number => bottom - part * (bottom - top);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.lineWidth = 1;
    for (const part of [0, 0.5, 1]) {
      context.fillStyle = colour('quiet');
      context.textAlign = 'right';
      context.fillText(percent(part), left - 8, y(part));
      context.strokeStyle = colour('line');
      context.beginPath();
      context.moveTo(left, y(part));
      context.lineTo(right, y(part));
      context.stroke();
    }
    context.textAlign = 'center';
    context.fillStyle = colour('quiet');
    COURSE.forEach((kinds, i) => context.fillText(kinds.join(', '), x(i), height - 8));
    this.sides.forEach(({ steps, title, ratio }) => {
      const without = ratio === 0;
      context.strokeStyle = context.fillStyle = colour(without ? 'novel' : 'plain');
      context.lineWidth = 2.5;
      context.setLineDash(without ? [6, 4] : []);
      context.beginPath();
      steps.forEach(({ first }, i) => context.lineTo(x(i), y(first)));
      context.stroke();
      context.setLineDash([]);
      steps.forEach(({ first }, i) => {
        context.beginPath();
        if (without) context.rect(x(i) - 4, y(first) - 4, 8, 8);
        else context.arc(x(i), y(first), 4.5, 0, 2 * Math.PI);
        context.fill();
      });
      const last = steps.at(-1);
      if (!last) return;
      context.textAlign = 'left';
      context.font = '600 12px system-ui, sans-serif';
      // After the first stream both stand at the same place.
      const shift = steps.length === 1 ? (without ? 9 : -5) : 0;
      context.fillText(narrow ? percent(last.first) : `${title} ${percent(last.first)}`, x(steps.length - 1) + 10, y(last.first) + shift);
      if (narrow && steps.length > 2) context.fillText(title, x(1) + 14, y(steps[1]!.first) + (without ? -10 : 18));
    });
    const told = this.sides.map(({ title, steps }) => `${title} ${steps.map(({ first }) => percent(first)).join(', ')}`);
    this.chart.setAttribute('aria-label', `Part of the ${FIRST} still recognised after each stream: ${told.join('; ')}`);
  }
}
